"""What a column's name implies: the split, the direction, the bounds, the unit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise

from levelbest._check import Bounds
from levelbest.readers.tables.languages import ENGLISH, in_english

__all__ = [
    "FAMILY",
    "METRIC_COLUMNS",
    "SPLIT_COLUMNS",
    "TEST",
    "TRAIN",
    "VALIDATION",
    "cost_unit_of",
    "could_be_score",
    "direction_of",
    "family_names",
    "is_metric",
    "is_test_name",
    "leaky_name",
    "natural_bounds",
]
__all__ += ["SAMPLE_IDS", "among", "is_neutral", "is_share", "obvious_family", "rest", "spelled", "tokens", "word_set"]


def word_set(text: str) -> frozenset[str]:
    """The words of a line as a set."""
    return frozenset(text.split())


VALIDATION = word_set("val valid validation validate dev devel development heldout")
TEST = word_set("test testing tst")
TRAIN = word_set("train training trn")
FAMILY = word_set(
    "model models method methods algorithm algorithms alg algo architecture arch system approach classifier learner"
)
_OF_A_NAME = word_set("name id type key label version tag path or")
"""What follows the word for a family: ``model_name_or_path``."""
_TRUTHS = word_set("true false yes no on off")
"""Names of families that mean nothing without the column that they stand in."""
_CASES = word_set("test tests case cases testcase testcases check checks nodeid")
_OF_A_CASE = word_set("case id ids idx index no nr number name names key uid node nodeid")
SAMPLE_IDS = (
    *("sample_id", "sample", "sample_idx", "sample_index", "sample_number", "completion_id", "generation_id"),
    *("trial", "trial_id", "attempt", "epoch"),
)
"""Names of columns that say which sample of its problem a row is, the surest first."""
LEAKY = word_set("best max maximum peak highest min minimum lowest")

SPLIT_COLUMNS = word_set("split data_split eval_split subset partition phase set mode stage")
METRIC_COLUMNS = word_set("metric metrics metric_name measure measurement score_name score_type metric_type")
"""Columns that may say of which split, or by which metric, a row's score is."""

_HIGHER = word_set(
    "acc accs accuracy accuracies f1 f2 fbeta auc aucs auroc auprc aucpr roc precision recall bleu rouge rougel chrf "
    "meteor map ndcg "
    "mrr iou miou dice dsc jaccard r2 reward rewards rew return returns top1 top5 hits psnr ssim em mcc kappa spearman "
    "pearson sensitivity specificity winrate pass passed correct success solved resolved likelihood elbo exact match "
    "map50 map75 map95 helpfulness harmlessness faithfulness coherence fluency quality satisfaction mos elo"
)
_LOWER = word_set(
    "loss losses error err errors rmse mse mae mape smape msle rmsle perplexity ppl nll cer wer ter bpc bpb bpd "
    "brier ece fid regret logloss xent entropy deviance distance eer rse rrse crps gap toxicity harmfulness lpips"
)
_NEUTRAL = word_set(
    "score scores metric metrics objective objectives performance performances fitness result outcome "
    "selection reported grade grades rating ratings likert"
)
_NOT_A_SCORE = word_set(
    "std stdev stddev stderr sem se sd var variance ci lower upper rank ranking time epoch epochs step steps "
    "iteration iterations iter count counts num number examples size samples batch batches id path dir file name "
    "seed split tokens seconds hours duration runtime image images lr predictions preds labels set data dataset "
    "smoothing weight func function type instances items cases rows trials runs episodes total idx index uuid hash "
    "timestamp date number no trial run sample attempt episode frame frames timesteps worker node gpu fold rep repeat"
)
_COUNTS = word_set("n num number count total")
"""As the first word of a name: how many of something, and not a score."""
_SHARES = word_set(
    "acc accuracy f1 auc auroc auprc precision recall em exact match iou miou dice dsc jaccard top1 top5 hits pass "
    "passed correct success solved resolved sensitivity specificity winrate map map50 map75 map95 ndcg mrr error err "
    "wer cer"
)
_PROPORTIONS = word_set(
    "acc accuracy f1 auc auroc auprc precision recall em iou miou dice dsc jaccard top1 top5 hits pass passed correct "
    "success solved resolved sensitivity specificity winrate map map50 map75 map95 ndcg mrr"
)
"""Shares that cannot exceed 1, as an error rate of words can."""
_NOT_NEGATIVE = word_set("error err wer cer mse rmse mae mape smape perplexity ppl fid brier eer ece crps regret")
_CHANGED = word_set("delta diff difference gap gain improvement log neg negative negated relative change lift")
_FEWER = word_set("drop decline decrease degradation deterioration reduction reductions")
_BETTER = word_set("improvement improvements gain gains lift saving savings free")
_NOT = word_set("not non minus attack jailbreak backdoor")
_COUNTED = word_set("step steps sample samples token tokens epoch epochs trial trials cost calls episodes iterations")
_REST = re.compile(r"\s*(?:val|test|dev)?[\s_/]*(?:1|100|1\.0)\s*[-−–]\s*([a-z0-9]+)")
"""What is left to 1: ``1 - accuracy``; ``1-shot accuracy`` is none."""
_SPREADS = word_set("std stderr sem stdev time")
_ARROWS = {"max": "↑⬆▲", "min": "↓⬇▼"}
_DEVICE = re.compile(r"[gtc]pu|[avhblt]\d{1,3}0|rtx\d+|gh200|mi\d{3}x?|tpuv\d|npu")
"""What hours are counted of, and paid for: ``gpu_hours``, ``a100_hours``."""
_WRITTEN_BOUNDS = re.compile(r"\[\s*([^;,\]]+)\s*[;,]\s*([^\]]+)\s*\]")

_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("usd", "dollar", "dollars"), "USD"),
    **dict.fromkeys(("eur", "euros"), "EUR"),
    **{unit: unit for unit in ("tokens", "steps", "epochs", "messages")},
    "flops": "FLOPs",
    "kwh": "kWh",
    "joules": "J",
}


@lru_cache(maxsize=2**16)
def tokens(name: str) -> tuple[str, ...]:
    """The words of a name: ``valAcc``, ``val_acc``, ``val/acc`` and ``Val Acc.`` are all (val, acc)."""
    parts = re.findall(r"[^\W_]+", name)
    if not name.isascii() or any(re.sub(r"\d", "", part).lower() in ENGLISH for part in parts):
        parts = re.findall(r"[^\W_]+", in_english(name))
    return tuple(word for part in parts for word in _camel_words(part))


def _camel_words(part: str) -> list[str]:
    """``valAcc`` is two words; ``chrF`` is the name of a metric."""
    low = part.lower()
    if low in _HIGHER or low in _LOWER:
        return [low]
    return re.sub(r"(?<=[a-z]{2})(?=[A-Z])|(?<=[a-z0-9])(?=[A-Z][a-z])", " ", part).lower().split()


def spelled(name: str) -> str:
    """A name as its words, one underscore between them: ``Val Acc.`` is ``val_acc``."""
    return "_".join(tokens(name))


def among(columns: Iterable[str], known: Collection[str]) -> list[str]:
    """The columns of which the name is a known one, however it is spelled."""
    return [name for name in columns if spelled(name) in known]


def obvious_family(words: tuple[str, ...], known: frozenset[str] = FAMILY, also: Collection[str] = _OF_A_NAME) -> bool:
    """Whether the words of a name say that the column names models; ``also``: what may follow."""
    return bool(words) and words[0] in known and set(words[1:]) <= set(also)


def family_names(column: str, values: Sequence[str]) -> tuple[str, ...]:
    """The names of families: the values of a column, with the name of the column where they are yes or no.

    Examples
    --------
    >>> family_names("mixup", ["True", "False"]), family_names("model", ["cnn", "vit"])
    (('mixup = True', 'mixup = False'), ('cnn', 'vit'))
    """
    if not {value.strip().lower() for value in values} <= _TRUTHS:
        return tuple(values)
    return tuple(f"{column} = {value}" for value in values)


def rest(name: str) -> frozenset[str]:
    """The words that are left when the split is taken out."""
    return frozenset(tokens(name)) - VALIDATION - TEST - TRAIN


def is_test_name(name: str) -> bool:
    """Whether a column is by its name one of the tests of a suite; ``test`` alone may also be a score.

    Examples
    --------
    >>> is_test_name("test"), is_test_name("TestCase"), is_test_name("check_name"), is_test_name("test_acc")
    (True, True, True, False)
    """
    words = tokens(name)
    return bool(words) and words[0] in _CASES and set(words[1:]) <= _OF_A_CASE


def is_metric(name: str) -> bool:
    """Whether the name reads like a score."""
    words = tokens(name)
    if not words or words[-1] in _NOT_A_SCORE or _SPREADS & set(words) or _is_count(words):
        return False
    return bool(set(words) & (_HIGHER | _LOWER | _NEUTRAL)) or _top_k(words) or arrow_of(name) is not None


def arrow_of(name: str) -> str | None:
    """The direction that an arrow in a header shows, as papers write it: ``FID↓``."""
    ways = [way for way, arrows in _ARROWS.items() if any(arrow in name for arrow in arrows)]
    return ways[0] if len(ways) == 1 else None


def is_neutral(name: str) -> bool:
    """Whether the name says no more than that it is a score, perhaps with its ends: ``score_1_5``."""
    return {word for word in rest(name) if not word.isdigit()} <= _NEUTRAL


def is_share(name: str) -> bool:
    """Whether the score is a share by its name: between 0 and 1, or between 0 and 100 in percent."""
    return bool(set(tokens(name)) & _SHARES) or _top_k(tokens(name))


def could_be_score(name: str) -> bool:
    """Whether nothing in the name speaks against a score."""
    words = [word for word in tokens(name) if word not in VALIDATION | TEST | TRAIN]
    return not words or (words[-1] not in _NOT_A_SCORE and not _SPREADS & set(words) and not _is_count(words))


def _is_count(words: Sequence[str]) -> bool:
    """``n_test`` and ``num_layers`` count something; ``num_correct`` is a score nonetheless."""
    return words[0] in _COUNTS and words[-1] not in _HIGHER | _LOWER


def _top_k(words: tuple[str, ...]) -> bool:
    return any(a == "top" and b.isdigit() for a, b in pairwise(words))


def direction_of(name: str) -> tuple[str | None, Bounds]:
    """Which way is better and the bounds, where the name is plain about them; (None, (None, None)) where it is not."""
    low = name.lower()
    bounds: Bounds = (None, None)
    if written := _WRITTEN_BOUNDS.search(name):
        with suppress(ValueError):
            bounds = (float(written[1]), float(written[2]))
    if re.search(r"\((maximi[sz]e|max)\)", low) or arrow_of(name) == "max":
        return "max", bounds
    if re.search(r"\((minimi[sz]e|min)\)", low) or arrow_of(name) == "min":
        return "min", bounds
    words = set(tokens(name))
    if _is_turned(name):
        return None, bounds
    lower = bool(words & _LOWER)
    higher = bool(words & _HIGHER) or (_top_k(tokens(name)) and not lower) or _of_humans(words)
    if higher and lower:
        return None, bounds
    if {"neg", "negative", "negated"} & words and (higher or lower):
        return ("max" if lower else "min"), bounds
    return ("max" if higher else "min" if lower else None), bounds


def _is_turned(name: str) -> bool:
    """Whether what is named is not the metric in its name: ``perplexity reduction``, ``error-free``, ``1 - accuracy``.

    Nor is ``attack success`` good for everyone, nor ``steps to success`` a success.
    """
    words = [word for word in tokens(name) if word != "rate"]
    for word, after in pairwise(words):
        fewer = after in _FEWER or (word in _LOWER and after in _BETTER)
        if word in _HIGHER | _LOWER and fewer:
            return True
        if word in _NOT and after in _HIGHER | _LOWER:
            return True
        if word in _COUNTED and after in ("to", "per", "until"):
            return True
    rest_of = _REST.match(name.lower())
    return rest_of is not None and rest_of[1] in _HIGHER | _LOWER


def _of_humans(words: set[str]) -> bool:
    """``human_normalized_score``: 0 is a random agent, 1 a person."""
    return "hns" in words or ("human" in words and bool(words & {"normalized", "normalised", "norm"}))


def natural_bounds(name: str, least: float, greatest: float) -> Bounds:
    """Between which a score lies by its name, where all that was observed does: a share, in percent, an error.

    Examples
    --------
    >>> natural_bounds("val_acc", 0.2, 0.9), natural_bounds("top1", 20.0, 70.0), natural_bounds("rmse", 1.0, 2.0)
    ((0.0, 1.0), (0.0, 100.0), (0.0, None))
    """
    words = set(tokens(name))
    if not least >= 0 or words & (_CHANGED | _SPREADS | _FEWER):
        return None, None
    if words & _PROPORTIONS or _top_k(tokens(name)):
        return (0.0, 1.0) if greatest <= 1 else (0.0, 100.0) if greatest <= 100 else (None, None)
    return (0.0, None) if words & _NOT_NEGATIVE else (None, None)


def leaky_name(name: str) -> bool:
    """Whether the name says that the reported score is itself a best over checkpoints (``Best Precision_test``)."""
    words = frozenset(tokens(name))
    return bool(words & LEAKY) and bool(words & TEST) and not words & VALIDATION


def cost_unit_of(name: str) -> str | None:
    """The unit that a cost column's name spells out: ``gpu_hours`` is GPU h, ``time_seconds`` is s."""
    words = tokens(name)
    unit = next((_UNITS[word] for word in reversed(words) if word in _UNITS), None)
    if unit is None:
        return None
    device = next((word for word in words if _DEVICE.fullmatch(word)), None)
    return f"{device.upper()} {unit}" if device and unit in ("s", "min", "h", "d") else unit
