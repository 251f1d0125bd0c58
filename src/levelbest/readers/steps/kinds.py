"""Rules for what a column cannot be, from its name and its cells.

A wrong role leads to a wrong verdict, so the rules are conservative: `never_score` and `never_setting` return the name
of the first rule that excludes a role, or None.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from levelbest.readers.raw import EXACT, Cells, Coded, Codes, as_codes, is_numeric
from levelbest.readers.steps import names
from levelbest.readers.steps.cells import as_numbers, is_series

__all__ = ["COUNTERS", "HYPERPARAMETERS", "PLACES", "Look", "is_index", "is_moment", "is_result", "never_score"]
__all__ += ["is_numbered", "is_run_number", "is_setting_name", "is_task_name", "may_be_length", "never_setting"]
__all__ += ["of_settings"]


COUNTERS = (
    *("epoch", "epochs", "global_step", "total_timesteps", "timesteps", "tokens_seen", "frame", "frames", "env_steps"),
    *("step", "steps", "training_step", "train_step", "num_timesteps", "num_env_steps", "total_env_interacts"),
    *("iteration", "iterations", "training_iteration", "iter", "checkpoint", "generation", "episode", "episodes"),
    *("update", "updates", "round", "rnd", "ep", "minibatch", "total_steps", "current_step", "step_num"),
    *("samples_seen", "num_updates", "n_updates", "env_frames", "num_frames", "kimg", "samples_processed"),
    *("examples_seen", "it", "timestep", "env_step", "rung", "fidelity", "budget"),
)
"""What counts how far a run has come, the surest first."""
_LENGTHS = names.word_set("epochs steps iterations timesteps total_timesteps episodes frames updates total_steps")
_IN_ENVIRONMENTS, _FEW_FRAMES = names.word_set("timesteps total_timesteps frames"), 10_000
"""Counters that may be a hyperparameter as well (how long to train); of an environment only up to so many: beyond, they
are neither steps of a sampler nor frames of a video."""
PLACES = names.word_set(
    "worker worker_id worker_rank node node_id node_name nodename machine machine_id host hostname host_id batch "
    "batch_id batch_idx batch_index batch_no gpu gpu_id gpu_index gpu_idx gpu_name gpu_rank cuda_device device_id "
    "device rank local_rank global_rank world_rank job job_id job_name jobid slurm_job_id slurm_array_task_id "
    "array_task_id pid process process_id cluster partition slot instance_type user username owner queue shard "
    "shard_id pod pod_name cpu cpu_id port server server_id thread thread_id executor zone annotator rater grader "
    "reviewer labeler labeller assessor annotator_id rater_id branch torch_version cuda_version python_version "
    "num_workers n_workers attempt attempts cuda_visible_devices batch_job weekday config_hash early_stopped"
)
"""Where, by whom and in which batch a trial was run: never a hyperparameter of it."""
HYPERPARAMETERS = names.word_set(
    "lr learning_rate batch_size bs dropout weight_decay hidden hidden_size hidden_dim width depth layers n_layers "
    "num_layers n_estimators max_depth c gamma alpha beta lambda l1 l2 momentum optimizer activation kernel "
    "num_leaves min_child_weight subsample colsample_bytree units n_units filters warmup temperature scheduler "
    "lr_scheduler schedule criterion penalty booster splitter weights init initializer norm normalization aug "
    "augmentation pooling tokenizer loss_fn loss_function regularizer attention embedding embeddings pretrained solver"
)
"""Names that are plainly those of hyperparameters."""
_INDEX = names.word_set(
    "sample samples seed id ids index idx row rows number no nr trial trials run runs rank fold folds rep repeat "
    "replicate attempt iteration iter step steps epoch epochs episode frame worker node machine batch split instance "
    "instances uuid hash timestamp date time"
)
_SETTINGS = names.word_set(
    "config cfg configuration args param params parameter parameters hparam hparams hyperparameter hyperparameters "
    "setting settings hp"
)
_SIZES = names.word_set("m k b mm million millions billion count total num number")
_ATTRIBUTES = names.word_set("user_attrs system_attrs user_attr system_attr tags tag")
_RESULTS = names.word_set(
    "time timestamp date created started ended start end runtime duration epoch iteration step index idx id uuid "
    "path dir file folder host hostname run trial name url state status notes note comment comments remark remarks "
    "memo message msg reason todo description tags user job termination finish_reason stop_reason "
    "pid version experiment parameters n_parameters num_parameters n_params params_count best_epoch best_step sweep "
    "group rank sample additional commit commit_hash git_commit sha hash log log_file out_dir output_dir save_dir exp "
    "ckpt checkpoint checkpoint_path memory_gb memory_mb peak_memory vram_gb gpu_memory grad_norm"
)
_COUNTED = names.word_set("epoch epochs step steps iteration iterations iters batches updates")
_SO_FAR = names.word_set("done run ran trained completed best last final total stopped current seen reached actual")
"""How far a run came is no hyperparameter of it: ``epochs_done``, ``best_epoch``."""
_ENDINGS = names.word_set(
    "id uuid path dir folder name url timestamp time date host hostname hash sha file filename datetime at count"
)
_MEASURED = names.word_set(
    "throughput latency fps qps vram flops gflops mflops macs energy kwh carbon co2 utilization util turns rss "
    "ci ci95 stderr sem"
)
_MEMORY, _OF_MEMORY = names.word_set("mem memory ram"), names.word_set("peak max gpu used usage gb mb gib mib bytes")
"""What was measured of a trial: ``throughput``, ``peak_mem_gb``."""
_RATES = names.word_set("s sec second seconds min minute hour step gpu")
"""After ``per``: ``images_per_sec`` was measured."""
_PASSING = names.word_set("time cum accumulated seconds runtime duration elapsed wallclock")
_LONG, _FEW_TEXTS, _NUMBERED, _SELDOM = 100, 10, 8, 0.4
_FILE = re.compile(
    r"(?!w/)[\w.~-]*[/\\][\w./\\=,~ -]+|[\w=,-]+\.(?:json|csv|log|txt|pt|pth|ckpt|yaml|yml|pkl|npz|h5|bin)"
)
_HASH = re.compile(r"(?=[0-9a-f]*\d)[0-9a-f]{7,64}|[0-9a-f]{8}-[0-9a-f-]{27}", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T _]\d\d[:-]\d\d.*)?|\d{8}[-_T]\d{4,6}|\d\d/\d\d/\d{4}( .*)?")


_TASKS = names.word_set(
    "task tasks dataset datasets benchmark benchmarks bench env environment game games domain domains corpus language "
    "languages lang subset subsets subject subjects instance suite scenario testset data outer inner"
)
_OF_A_TASK = names.word_set("id name pair set key")
"""What follows the word for a task: ``lang_pair``, ``data_set``."""


@dataclass(frozen=True)
class Look:
    """A column to judge: its name, its cells and, where they are known, the family of each row."""

    name: str
    cells: Cells
    families: Codes | None = None

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return names.tokens(self.name)

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64] | None:
        """Its cells where all are finite numbers; None where one is not."""
        if not is_numeric(self.cells) or np.ma.getmaskarray(self.cells).any():
            return None
        values = np.asarray(self.cells, dtype=np.float64)
        return values if values.size and np.isfinite(values).all() else None

    @cached_property
    def texts(self) -> Counter[str]:
        """Its texts with their counts; none where it holds numbers."""
        if is_numeric(self.cells):
            return Counter()
        if isinstance(self.cells, Coded):
            counts = np.bincount(self.cells.codes[self.cells.codes >= 0], minlength=len(self.cells.names))
            return Counter({name: int(n) for name, n in zip(self.cells.names, counts, strict=True) if n})
        return Counter(cell for cell in self.cells if isinstance(cell, str))

    def most(self, pattern: re.Pattern[str]) -> bool:
        """Whether nearly all its texts are of this form."""
        filled = sum(self.texts.values())
        fitting = sum(count for text, count in self.texts.items() if pattern.fullmatch(text.strip()))
        return filled > 0 and fitting >= 0.9 * filled


ColumnRule = Callable[[Look], bool]


def may_be_length(counter: str, place: npt.NDArray[np.float64]) -> bool:
    """Whether a counter may be a hyperparameter, by its name and its numbers: ``frames``, 8 or 16."""
    name = names.spelled(counter.rpartition("/")[2])
    return name in _LENGTHS and not (name in _IN_ENVIRONMENTS and place.max() > _FEW_FRAMES)


def is_index(look: Look) -> bool:
    """``seed``, ``sample_id``, ``Unnamed: 0``; ``test`` where tests are numbered."""
    spelled = names.spelled(look.name)
    by_name = bool(look.words) and (look.words[-1] in _INDEX or spelled in COUNTERS or spelled.startswith("unnamed"))
    return by_name or (names.is_test_name(look.name) and _numbers_tests(look))


def _numbers_tests(look: Look) -> bool:
    """At least four whole numbers, counted from 0 or 1, with several rows each."""
    ids, counts = np.unique(as_numbers(look.cells).values, return_counts=True)
    return ids.size >= 4 and ids[0] in (0, 1) and bool((np.diff(ids) == 1).all()) and int(counts.min()) > 1


def _is_of_settings(look: Look) -> bool:
    """``params_loss``, ``config.accuracy``."""
    return bool(of_settings(look.name))


def _is_attribute(look: Look) -> bool:
    """``user_attrs_score``: a user attribute beside the result."""
    return len(look.words) > 1 and (look.words[0] in _ATTRIBUTES or "_".join(look.words[:2]) in _ATTRIBUTES)


def _counts_rows(look: Look) -> bool:
    """0, 1, 2, ... from row to row, through the table or within each family, or all of these in another order."""
    values = look.numbers
    if values is None or values.size < 4 or names.is_metric(look.name) or names.spelled(look.name) in HYPERPARAMETERS:
        return False
    ordered = np.sort(values)
    if values.size >= _NUMBERED and ordered[0] in (0.0, 1.0) and bool((np.diff(ordered) == 1).all()):
        return True
    parts = [values]
    if look.families is not None and look.families.max(initial=0) > 0:
        parts = [values[look.families == code] for code in range(int(look.families.max()) + 1)]
    rows = all(part.size > 1 and bool((np.diff(part) == 1).all()) for part in parts)
    return rows or bool((np.diff(values) == 1).all())


def _is_identifier(look: Look) -> bool:
    """Whole numbers with more digits than a double can hold."""
    if is_numeric(look.cells):
        return look.cells.dtype.kind == "f" and look.numbers is not None and bool((np.abs(look.numbers) > EXACT).all())
    cells = look.cells.names if isinstance(look.cells, Coded) else look.cells
    long = [str(cell).lstrip("+-") for cell in cells if cell is not None]
    return bool(long) and all(text.isdigit() and len(text) > 15 for text in long)


def _is_same_in_every_family(look: Look) -> bool:
    """What was planned alike for all families (a seed, a fold, a budget) is none of their results."""
    values, families = look.numbers, look.families
    if values is None or families is None or families.max(initial=0) < 1 or names.is_metric(look.name):
        return False
    each = [np.sort(values[families == code]) for code in range(int(families.max()) + 1)]
    first = each[0]
    return np.unique(first).size >= 4 and all(np.array_equal(first, other) for other in each[1:])


NEVER_SCORES: Mapping[str, ColumnRule] = {
    "index": is_index,
    "setting": _is_of_settings,
    "attribute": _is_attribute,
    "counts-rows": _counts_rows,
    "identifier": _is_identifier,
    "same-in-every-family": _is_same_in_every_family,
}


def never_score(look: Look) -> str | None:
    """Why a column cannot be a score; None where nothing speaks against it.

    Examples
    --------
    >>> never_score(Look("sample", np.arange(5.0))), never_score(Look("acc", np.array([0.5, 0.7])))
    ('index', None)
    """
    return next((rule for rule, holds in NEVER_SCORES.items() if holds(look)), None)


def of_settings(name: str) -> tuple[str, ...]:
    """The words of a setting: ``config.model`` is (model); none where the column is not of the settings."""
    words = names.tokens(name)
    if words[:1] == ("params",) and set(words[1:]) <= _SIZES:
        return ()  # how many parameters a model has
    return words[1:] if words and words[0] in _SETTINGS else ()


def is_result(name: str) -> bool:
    """Whether a column is by its name what came out of a trial, or tells which one it was."""
    words = names.tokens(name)
    if not words or name.startswith("column"):
        return True
    # ``val_acc`` and ``train_loss`` are results; ``limit_train`` and ``train_size`` may be settings
    split = set(words) & (names.VALIDATION | names.TEST | names.TRAIN)
    of_a_split = bool(split) and names.could_be_score(name)
    if split and split <= names.TRAIN:
        of_a_split = of_a_split and (names.rest(name) == frozenset() or words[0] in names.TRAIN)
    return (
        names.is_metric(name)
        or of_a_split
        or names.spelled(name) in _RESULTS
        or bool(set(words) & _COUNTED and set(words) & _SO_FAR)
        or words[-1] in _ENDINGS
        or _is_measured(words)
    )


def _is_measured(words: tuple[str, ...]) -> bool:
    """Time, memory, throughput, and how large a model is: ``peak_mem_gb``, ``images_per_sec``, ``params_M``."""
    return (
        bool(set(words) & (_PASSING | _MEASURED))
        or bool(set(words) & _MEMORY and set(words) & _OF_MEMORY)
        or any(word == "per" and after in _RATES for word, after in pairwise(words))
        or (words[0] in ("params", "parameters") and set(words[1:]) <= _SIZES)
    )


def _is_place(look: Look) -> bool:
    """``worker``, ``node``, ``gpu_id``, ``slurm_job``: where a trial was run."""
    if look.words[:1] == ("slurm",):
        return True
    return names.spelled(look.name) in PLACES or "_".join(of_settings(look.name)) in PLACES


def _is_result(look: Look) -> bool:
    return is_result(look.name)


def _is_path(look: Look) -> bool:
    """Files and folders: ``exp/lr0.1_s1``."""
    return look.most(_FILE)


def _is_hash(look: Look) -> bool:
    return len(look.texts) > 1 and look.most(_HASH)


def _numbers_runs(look: Look) -> bool:
    """Names with a number of their own in every row (``exp_001``), or whole numbers close together and far from 0."""
    values = look.numbers
    if values is not None:
        whole = values.size >= _NUMBERED and bool((values == np.floor(values)).all())
        return whole and np.unique(values).size == values.size and float(np.ptp(values)) < 0.01 * float(values.min())
    filled = sum(look.texts.values())
    if filled < _NUMBERED or len(look.texts) < filled or names.spelled(look.name) in HYPERPARAMETERS:
        return False
    stems = {_NUMBER.sub("", text) for text in look.texts}
    return (
        len(stems) == 1
        and all(len(_NUMBER.findall(text)) == 1 for text in look.texts)
        and any(map(str.isalpha, stems.pop()))
    )


def is_moment(look: Look) -> bool:
    """Dates and times; seconds since 1970 that go up."""
    if look.most(_MOMENT):
        return True
    values = look.numbers
    if values is None or values.size < 3:
        return False
    size = 1e3 if values.min() > 1e12 else 1.0  # in milliseconds
    since_1970 = (values > size * 9.4e8) & (values < size * 4.1e9)  # 1999 to 2099
    return bool(since_1970.all()) and bool((values != values[0]).any())


def _is_list(look: Look) -> bool:
    return is_series(look.cells)


def _is_prose(look: Look) -> bool:
    """Texts to read (completions, notes): most are long, or nearly all differ and have spaces; few rows have any."""
    cells = look.texts
    filled = sum(cells.values())
    if 0 < filled < _SELDOM * len(look.cells) and all(" " in text.strip() for text in cells):
        return True
    if 2 * sum(count for text, count in cells.items() if len(text) > _LONG) > filled:
        return True
    spaced = sum(count for text, count in cells.items() if " " in text.strip())
    return filled >= _FEW_TEXTS and len(cells) >= 0.9 * filled and 2 * spaced > filled


NEVER_SETTINGS: Mapping[str, ColumnRule] = {
    "place": _is_place,
    "result": _is_result,
    "counts-rows": _counts_rows,
    "identifier": _is_identifier,
    "path": _is_path,
    "hash": _is_hash,
    "moment": is_moment,
    "list": _is_list,
    "prose": _is_prose,
    "numbers-runs": _numbers_runs,
}


def never_setting(look: Look) -> str | None:
    """Why a column cannot be a hyperparameter; None where nothing speaks against it.

    Examples
    --------
    >>> never_setting(Look("worker", np.array([0.0, 1.0]))), never_setting(Look("limit_train", np.array([10.0, 20.0])))
    ('place', None)
    """
    return next((rule for rule, holds in NEVER_SETTINGS.items() if holds(look)), None)


def is_task_name(name: str) -> bool:
    """Whether a column is by its name one of tasks.

    Examples
    --------
    >>> is_task_name("env_id"), is_task_name("config.dataset_name"), is_task_name("data_size")
    (True, True, False)
    """
    words = of_settings(name) or names.tokens(name)
    if words[:1] in (("test",), ("eval",)) and words[1:2] in (("set",), ("data",), ("dataset",), ("corpus",)):
        words = words[1:] if words[1] != "set" else ("testset", *words[2:])
    if words in (("outer",), ("inner",)):
        return False  # of nested cross-validation; ``outer key`` is of nested lists
    return bool(words) and words[0] in _TASKS and set(words[1:]) <= _OF_A_TASK


def is_setting_name(name: str) -> bool:
    """Whether a column is by its name a hyperparameter."""
    return bool(of_settings(name)) or names.spelled(name) in HYPERPARAMETERS


def is_numbered(cells: Cells) -> bool:
    """Whether values differ by a number alone, as runs do: ``night 1``, ``night 2``."""
    return len({_NUMBER.sub("", label) for label in as_codes(cells)[0]}) == 1


_ORDINALS = names.word_set("first second third fourth fifth sixth one two three four five six")


def is_run_number(label: str) -> bool:
    """``3``, ``run 3``, ``fold_03``, ``a``, ``IV``, ``third``."""
    letter = (len(label) == 1 and label.isalpha()) or set(label) <= set("IVX") or label.lower() in _ORDINALS
    return letter or (len([char for char in label if char.isdigit()]) in (1, 2, 3) and len(label) < 12)
