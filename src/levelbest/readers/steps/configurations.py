"""Which columns are hyperparameters: as asked, as the format says, or what is left when results are taken out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

import numpy as np

from levelbest._check import Column
from levelbest.errors import InputError
from levelbest.readers.columns import Cells, Coded, as_codes, is_numeric, texts
from levelbest.readers.steps import names
from levelbest.readers.steps.kinds import PLACES, Look, never_setting, of_settings
from levelbest.readers.steps.merged import Merged
from levelbest.readers.steps.roles import Roles, Wanted

__all__ = ["configuration_of", "plain_values"]

LARGE = 1_000_000
"""Tables beyond this many rows keep only the configuration columns that were asked for."""
_SMALL = 100_000
_RUN_NAMES = names.word_set("run name trial config configuration experiment folder dir path")
_SETTING = re.compile(r"([A-Za-z]+)[=:]?(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
_PREFIXES = ("config", "configuration", "params", "param", "hparams", "hyperparameters", "hyperparameter", "hp")
_OF_A_SAMPLE = names.word_set(
    "sample_idx sample_id sample_index sample_number sample_no completion_id completion_idx completion_index "
    "generation_id generation_idx attempt attempt_id attempt_idx completion completions generation generations answer "
    "response output prediction predicted extracted_answer final_answer parsed_answer logprob log_prob logprobs"
)
"""Where rows are samples of problems: which sample a row is, and what came out of it."""
_NUMBERED = names.word_set(
    "config config_id config_idx config_index config_name config_no configuration configuration_id hparams_id hp_id "
    "hyperparameters_id setting setting_id settings_id candidate candidate_id arm arm_name arm_id params_id"
)
_REPEATS = names.word_set("s seed rs rep repeat run trial fold idx id")
"""Keys in the name of a run that number it: ``s1`` of ``exp/lr0.1_s1`` is a seed."""
_ENDINGS = names.word_set("id uuid path dir folder name url timestamp time date host hostname")


def configuration_of(table: Merged, trials: Merged, roles: Roles, wanted: Wanted) -> Mapping[str, Column]:
    """Hyperparameters by column: chosen by all rows of the table, for those of them that are trials."""
    used = roles.used()
    recorded = dict.fromkeys(name for part in table.tables for name in part.configuration or () if not _is_place(name))
    silent = [part for part in table.tables if part.configuration is None]
    chosen, spelled = [*recorded], {}
    if wanted.configuration is not None:
        chosen = [name for name in table.columns if any(fnmatchcase(name, pattern) for pattern in wanted.configuration)]
        if wanted.configuration and not chosen:
            raise InputError(f"no column of {table.source} matches the configuration {', '.join(wanted.configuration)}")
    elif silent and table.n_rows <= LARGE:
        theirs = {name for part in silent for name in part.columns}
        chosen += [name for name in _left_over(table, roles, theirs) if name not in recorded]
        spelled = _spelled(trials, used) if table.n_rows <= _SMALL else {}
    return {name: plain_values(trials.columns[name]) for name in chosen if name not in used} | spelled


def _spelled(table: Merged, used: set[str]) -> dict[str, Column]:
    """Settings that a run's name spells out, as in ``03_t1024_l2_de6``: one column each."""
    spelled: dict[str, Column] = {}
    for name in table.columns:
        column = table.columns[name]
        if name in used or not set(names.tokens(name)) & _RUN_NAMES or isinstance(column, Coded) or is_numeric(column):
            continue
        for row, cell in enumerate(column):
            parts = [_SETTING.fullmatch(part) for part in re.split(r"[/_,; ]+", str(cell or ""))]
            settings = {match[1]: float(match[2]) for match in parts if match and match[1].lower() not in _REPEATS}
            if len(settings) > 1 or (settings and len(settings) < sum(match is not None for match in parts)):
                for key, value in settings.items():
                    spelled.setdefault(f"{name}.{key}", np.full(table.n_rows, np.nan))[row] = value
    return {name: values for name, values in spelled.items() if np.isfinite(values).sum() >= 4}


def _left_over(table: Merged, roles: Roles, owned: set[str]) -> list[str]:
    used = roles.used()
    free = [name for name in table.columns if name not in used and name in owned]
    prefixed = [name for name in free if _prefix(name)]
    if len(prefixed) > 1:
        return prefixed
    numbered = names.among(free, _NUMBERED)
    if roles.group is not None:
        free = [name for name in free if name != roles.sample and names.spelled(name) not in _OF_A_SAMPLE]
    settings = []
    for name in free:
        against = never_setting(Look(name, table.columns[name]))
        if against is None or (against == "result" and name in prefixed):
            settings.append(name)
    if any(_varies(table.columns[name]) for name in settings):
        return settings
    # Configurations known by their number alone: several rows of one are its repeats.
    return settings + [name for name in numbered if 1 < len(as_codes(table.columns[name])[0]) <= table.n_rows / 2]


def _varies(column: Cells) -> bool:
    if not is_numeric(column):
        return len(as_codes(column)[0]) > 1
    known = np.ma.getdata(column)[~np.ma.getmaskarray(column)]
    return bool((known != known[:1]).any()) and not np.isnan(known).all()


def _prefix(name: str) -> bool:
    words = names.tokens(name)
    return len(words) > 1 and words[0] in _PREFIXES and words[-1] not in _ENDINGS and not _is_place(name)


def _is_place(name: str) -> bool:
    return "_".join(of_settings(name) or names.tokens(name)) in PLACES


def plain_values(column: Cells) -> Column:
    """The cells as an array of its own without a mask: text and objects with None, numbers with NaN where empty."""
    if isinstance(column, Coded):
        return texts(column)
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.filled(column, np.nan) if is_numeric(column) else np.asarray(column.tolist(), dtype=object)
    return np.array(column)
