"""Words of headers in other languages than English, as the English words that the rules know.

Only words that name a part of a table are here: models, seeds, splits, scores, times. A word that means something else
in English (``note``, ``fine``) is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

__all__ = ["ENGLISH", "in_english"]

_WORDS = {
    "model": "modell modelle modele modeles modelo modelos modello modelli modelu malli модель 模型 モデル 모델",
    "method": "methode verfahren metodo metoda metode metod метод 方法 手法 방법",
    "algorithm": "algorithmus algorithme algoritmo algoritme algorytm algoritm алгоритм 算法 アルゴリズム 알고리즘",
    "classifier": "klassifikator classifieur clasificador classificatore classificador klasyfikator",
    "accuracy": "genauigkeit exactitude exactitud accuratezza acuracia acuracidade nauwkeurigheid dokladnosc "
    "noggrannhet tarkkuus trefferquote точность 准确率 准确度 精度 正确率 正解率 정확도",
    "loss": "verlust perte perdida perdita perda verlies forlust потери 损失 損失 손실",
    "error": "fehler fehlerrate erreur errore erro fout blad virhe ошибка 误差 错误率 誤差 오차",
    "score": "punktzahl puntuacion punteggio pontuacao wynik 分数 得分 スコア 점수",
    "reward": "belohnung recompense recompensa ricompensa beloning nagroda 奖励 報酬 보상",
    "precision": "prazision precisione precisao precyzja 精确率 適合率",
    "recall": "rappel richiamo revocacao 召回率 再現率",
    "validation": "validierung validacion validazione validacao validatie walidacja валидация 验证 検証 검증",
    "test": "teste prueba prova testi тест 测试 テスト 테스트",
    "train": "trening entrainement entrenamiento addestramento treino обучение 训练 訓練 学習データ 훈련",
    "seed": "saat startwert graine semilla seme semente ziarno zufallszahl siemen сид 随机种子 种子 シード 시드",
    "run": "lauf durchlauf durchgang versuch essai ejecucion esecuzione execucao przebieg 运行 実行",
    "repeat": "wiederholung wdh replikat replicat repeticion ripetizione repeticao herhaling powtorzenie 重复",
    "fold": "falte pli pliegue",
    "dataset": "datensatz datensaetze 数据集 データセット 데이터셋",
    "task": "aufgabe tache tarea compito tarefa taak zadanie 任务 タスク",
    "question": "frage pregunta domanda pergunta vraag pytanie 问题 質問",
    "learning_rate": "lernrate leersnelheid 学习率 学習率 학습률",
    "batch_size": "批大小 批次大小 バッチサイズ",
    "layers": "schichten couches capas strati camadas lagen warstwy 层数 層数",
    "time": "zeit laufzeit rechenzeit dauer temps duree tiempo duracion tempo durata duracao tijd looptijd duur czas "
    "время 时间 耗时 用时 時間 시간",
    "hours": "stunden heures horas uren godziny 小时",
    "seconds": "sekunden secondes segundos secondi seconden sekundy 秒",
    "cost": "kosten cout costo coste custo koszt 成本 费用 コスト",
    "epoch": "epoche epochen epoque epoca epoka эпоха 轮次 エポック 에폭",
    "comment": "bemerkung bemerkungen kommentar anmerkung notiz commentaire remarque comentario observacion commento "
    "opmerking uwagi 备注 注释 備考 비고",
    "mean": "mittelwert mittel moyenne gemiddelde srednia 平均 平均值 평균",
    "sum": "summe somme suma somma soma 合计 合計 총계",
    "total": "gesamt insgesamt totale totaal razem 总计 総計",
    "average": "durchschnitt promedio",
    "failed": "fehlgeschlagen gescheitert abgebrochen abgesturzt echoue echouee echec fallido fallida fallito fallita "
    "falhou mislukt nieudany 失败 失敗 실패",
    "finished": "fertig abgeschlossen beendet erfolgreich termine terminee reussi terminado completado completato "
    "concluido voltooid klaar zakonczony 完成 完了 완료",
    "std": "standardabweichung ecart_type desviacion desvio odchylenie 标准差 標準偏差",
}
ENGLISH = {word: meant for meant, words in _WORDS.items() for word in words.split()}
_UNSPACED = sorted((word for word in ENGLISH if ord(word[0]) > 0x2E7F), key=len, reverse=True)
"""Words of languages that put no space between words, the longest first."""
_PARTS = re.compile("|".join(_UNSPACED))
_PLAIN = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "ß": "ss", "æ": "ae", "Æ": "AE", "đ": "d", "ı": "i"})


def in_english(name: str) -> str:
    """A name without accents and with its foreign words in English, where they are known.

    Examples
    --------
    >>> in_english("modèle"), in_english("Genauigkeit (Val)"), in_english("验证准确率")
    ('model', 'accuracy (Val)', ' validation  accuracy ')
    """
    if name.isascii():
        plain = name
    else:
        parts = unicodedata.normalize("NFD", name.translate(_PLAIN))
        plain = unicodedata.normalize("NFC", "".join(char for char in parts if not _is_accent(char)))
        plain = _PARTS.sub(lambda word: f" {ENGLISH[word[0]]} ", plain)
    return "".join(_translated(plain))


def _is_accent(char: str) -> bool:
    """Accents of Latin letters alone: the marks of Japanese and Korean are parts of letters."""
    return "\u0300" <= char <= "\u036f"


def _translated(name: str) -> Iterator[str]:
    for part in re.split(r"([^\W\d_]+)", name):
        yield ENGLISH.get(part.lower(), part)
