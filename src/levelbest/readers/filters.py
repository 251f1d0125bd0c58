"""``--where EXPR``: a small expression language over the columns of a table. Nothing in it can reach a file or code.

    epoch > 0 and log_path like '%dist%'
    model in ('cnn', 'lr') and not (lr >= 0.1 or state is null)

Comparisons ``= == != <> < <= > >=``, ``in``, ``like`` (% and _), ``between A and B``, ``is null``; ``and or not``;
arithmetic ``+ - * / %``; functions ``lower upper length abs contains starts_with ends_with`` and ``matches`` (a regular
expression). A column whose name is no plain word is written as it is or in double quotes or backticks; text stands in
single quotes (or double quotes, where no column has that name). An empty cell satisfies no comparison.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from levelbest import _check
from levelbest._check import FloatArray
from levelbest.errors import InputError
from levelbest.readers import names
from levelbest.readers.columns import Coded, as_codes, is_numeric
from levelbest.readers.numbers import as_numbers

__all__ = ["matching_rows"]

Mask = npt.NDArray[np.bool_]
_KEYWORDS = names.word_set("and or not in like ilike between is null nan true false")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(?P<text>'(?:[^']|'')*')"
    r'|(?P<quoted>"(?:[^"]|"")*"|`[^`]*`)|(?P<op><=|>=|==|!=|<>|&&|\|\||[-+*/%()<>=,&|!])|(?P<word>[^\W\d][\w.]*))'
)
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_SAME = {"==": "=", "<>": "!=", "&&": "and", "&": "and", "||": "or", "|": "or", "!": "not"}
_ALIASES = {"startswith": "starts_with", "endswith": "ends_with", "len": "length", "regexp_matches": "matches"}
_STRONG = {"or": 1, "and": 2, "not": 3, "compare": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}


@dataclass(frozen=True)
class _Text:
    """Text per row as codes into distinct values (-1: empty); a constant has one value and no codes."""

    names: tuple[str, ...]
    codes: npt.NDArray[np.int32] | None


_Value = Any  # a FloatArray or float, a _Text, or a Mask


def matching_rows(expression: str, columns: Mapping[str, Any], n_rows: int, source: str) -> Mask:
    """Which rows satisfy the expression."""
    parser = _Parser(expression, columns, n_rows, source)
    return parser.truth(parser.parse())


class _Parser:
    def __init__(self, text: str, columns: Mapping[str, Any], n_rows: int, source: str) -> None:
        self.text, self.columns, self.n_rows, self.source = text, columns, n_rows, source
        self.tokens = self._tokenised()
        self.place = 0

    def _tokenised(self) -> list[tuple[str, str]]:
        # Longest names first, so that `epoch_40/val_loss` is a column and not a division.
        known = sorted((n for n in self.columns if re.search(r"[^\W\d]", n)), key=len, reverse=True)
        odd = [name for name in known if not re.fullmatch(r"[^\W\d][\w.]*", name)]
        found: list[tuple[str, str]] = []
        at = 0
        while self.text[at:].strip():
            at += len(self.text[at:]) - len(self.text[at:].lstrip())
            column = next(
                (n for n in odd if self.text.startswith(n, at) and not _goes_on(self.text, at + len(n), n)), None
            )
            if column is not None:
                found.append(("column", column))
                at += len(column)
                continue
            match = _TOKEN.match(self.text, at)
            if match is None:
                raise InputError(f"--where cannot be read at {self.text[at : at + 20]!r} in {self.text!r}")
            kind = str(match.lastgroup)
            found.append((kind, match[kind]))
            at = match.end()
        return found

    def parse(self) -> _Value:
        """The value of the whole expression."""
        if not self.tokens:
            raise InputError('--where must hold an expression, such as "epoch > 0", got an empty one')
        try:
            value = self._expression(0)
        except RecursionError:
            raise InputError("--where is nested too deeply") from None
        if self.place < len(self.tokens):
            raise InputError(f"--where cannot be read at {self.tokens[self.place][1]!r} in {self.text!r}")
        return value

    def _peek(self) -> str:
        if self.place >= len(self.tokens):
            return ""
        kind, text = self.tokens[self.place]
        if kind == "op":
            return _SAME.get(text, text)
        return text.lower() if kind == "word" and text.lower() in _KEYWORDS else ""

    def _accept(self, *wanted: str) -> bool:
        if self._peek() in wanted:
            self.place += 1
            return True
        return False

    def _need(self, wanted: str) -> None:
        if not self._accept(wanted):
            got = self.tokens[self.place][1] if self.place < len(self.tokens) else "the end"
            raise InputError(f"--where needs {wanted!r} at {got!r} in {self.text!r}")

    def _expression(self, strength: int) -> _Value:
        left = self._unary()
        while True:
            word = self._peek()
            if word in ("or", "and") and _STRONG[word] > strength:
                self.place += 1
                right = self.truth(self._expression(_STRONG[word]))
                left = self.truth(left) | right if word == "or" else self.truth(left) & right
            elif word in _COMPARISONS and _STRONG["compare"] > strength:
                self.place += 1
                left = self._compared(word, left, self._expression(_STRONG["compare"]))
            elif word in ("in", "like", "ilike", "between", "is", "not") and _STRONG["compare"] > strength:
                left = self._worded(left)
            elif word in ("+", "-", "*", "/", "%") and _STRONG[word] > strength:
                self.place += 1
                left = self._computed(word, left, self._expression(_STRONG[word]))
            else:
                return left

    def _worded(self, left: _Value) -> Mask:
        negated = self._accept("not")
        if self._accept("in"):
            mask = self._membership(left)
        elif self._peek() in ("like", "ilike"):
            folded = self._peek() == "ilike"
            self.place += 1
            mask = self._like(left, self._expression(_STRONG["compare"]), folded)
        elif self._accept("between"):
            low = self._expression(_STRONG["compare"])
            self._need("and")
            high = self._expression(_STRONG["compare"])
            mask = self._compared(">=", left, low) & self._compared("<=", left, high)
        else:
            self._need("is")
            negated = self._accept("not")
            if not self._accept("null", "nan"):
                raise InputError(f"--where knows 'is null' and 'is not null' only, in {self.text!r}")
            mask = self._empty(left)
            return ~mask if negated else mask
        return ~mask & ~self._empty(left) if negated else mask

    def _membership(self, left: _Value) -> Mask:
        if not self._accept("("):  # 'dist' in log_path
            return self._contains(self._expression(_STRONG["compare"]), left)
        mask = np.zeros(self.n_rows, dtype=bool)
        while True:
            mask |= self._compared("=", left, self._expression(_STRONG["compare"]))
            if not self._accept(","):
                break
        self._need(")")
        return mask

    def _unary(self) -> _Value:
        if self._accept("not"):
            return ~self.truth(self._expression(_STRONG["not"]))
        if self._accept("-"):
            return self._computed("-", 0.0, self._expression(_STRONG["*"]))
        if self._accept("+"):
            return self._unary()
        if self._accept("("):
            value = self._expression(0)
            self._need(")")
            return value
        if self.place >= len(self.tokens):
            raise InputError(f"--where ends too early: {self.text!r}")
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return float(text)
        if kind == "text":
            return _Text((text[1:-1].replace("''", "'"),), None)
        if kind == "quoted":
            inside = text[1:-1].replace('""', '"') if text[0] == '"' else text[1:-1]
            return self._column(inside) if inside in self.columns else _Text((inside,), None)
        if kind == "column":
            return self._column(text)
        if kind == "word":
            return self._named(text)
        raise InputError(f"--where cannot be read at {text!r} in {self.text!r}")

    def _named(self, word: str) -> _Value:
        if word in self.columns:
            return self._column(word)
        if word.lower() in ("true", "false"):
            return _Text((word.lower(),), None)
        if self._peek() == "(":
            return self._called(word.lower())
        raise InputError(
            f"--where: {self.source} has no column {word!r}; {_check.nearest_first(word, list(self.columns))} "
            "(text stands in single quotes)"
        )

    def _called(self, name: str) -> _Value:
        self._need("(")
        given = [self._expression(0)]
        while self._accept(","):
            given.append(self._expression(0))
        self._need(")")
        name = _ALIASES.get(name, name)
        known = {"lower": 1, "upper": 1, "length": 1, "abs": 1, "contains": 2, "starts_with": 2, "ends_with": 2}
        known["matches"] = 2
        if name not in known:
            raise InputError(f"--where has no function {name!r}; {_check.nearest_first(name, list(known))}")
        if len(given) != known[name]:
            raise InputError(f"--where: {name} takes {known[name]} value{'s' * (known[name] > 1)}, got {len(given)}")
        if name == "abs":
            return np.abs(self._number(given[0]))
        if name == "contains":
            return self._contains(given[0], given[1])
        text = self._text(given[0])
        if name in ("starts_with", "ends_with"):
            part = self._constant(given[1])
            return self._spread(text, [getattr(one, name.replace("_", ""))(part) for one in text.names])
        if name == "matches":
            return self._matches(text, self._constant(given[1]))
        if name == "length":
            sizes = np.array([*(float(len(one)) for one in text.names), np.nan])
            return sizes[-1:] if text.codes is None else sizes[text.codes]
        return _Text(tuple(getattr(one, name)() for one in text.names), text.codes)

    # Values ---------------------------------------------------------------------------------------------------------

    def _column(self, name: str) -> _Value:
        column = self.columns[name]
        if is_numeric(column) and column.dtype.kind != "b":
            return as_numbers(column).values
        if is_numeric(column):
            column = np.where(column, "true", "false").astype(object)
        names, codes = (column.names, column.codes) if isinstance(column, Coded) else as_codes(column)
        return _Text(tuple(names), codes)

    def _text(self, value: _Value) -> _Text:
        if isinstance(value, _Text):
            return value
        if isinstance(value, float):
            return _Text((f"{value:g}",), None)
        if isinstance(value, np.ndarray) and value.dtype != bool:
            names, codes = as_codes(np.ma.MaskedArray(value, mask=np.isnan(value)))
            return _Text(names, codes)
        raise InputError(f"--where: text is needed in {self.text!r}")

    def _constant(self, value: _Value) -> str:
        text = self._text(value)
        if text.codes is not None or len(text.names) != 1:
            raise InputError(f"--where: a piece of text in quotes is needed in {self.text!r}")
        return text.names[0]

    def _number(self, value: _Value) -> FloatArray | float:
        if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype != bool):
            return value
        if isinstance(value, _Text):
            parsed = as_numbers(np.array([*value.names, None], dtype=object)).values
            return float(parsed[0]) if value.codes is None else parsed[value.codes]
        raise InputError(f"--where: a number is needed in {self.text!r}")

    def truth(self, value: _Value) -> Mask:
        """The rows where a value is true."""
        if isinstance(value, np.ndarray) and value.dtype == bool:
            return value
        if (
            isinstance(value, _Text)
            and value.codes is not None
            and {n.lower() for n in value.names} <= {"true", "false"}
        ):
            return self._spread(value, [name.lower() == "true" for name in value.names])
        raise InputError(f'--where must compare columns, such as "epoch > 0", got {self.text!r}')

    def _spread(self, text: _Text, per_name: list[bool]) -> Mask:
        table = np.array([*per_name, False], dtype=bool)
        return np.full(self.n_rows, bool(table[0])) if text.codes is None else table[text.codes]

    def _empty(self, value: _Value) -> Mask:
        if isinstance(value, _Text):
            return np.zeros(self.n_rows, dtype=bool) if value.codes is None else value.codes < 0
        return np.broadcast_to(np.isnan(self._number(value)), (self.n_rows,)).copy()

    # Operations -----------------------------------------------------------------------------------------------------

    def _compared(self, op: str, left: _Value, right: _Value) -> Mask:
        compare = _COMPARISONS[op]
        texts = [isinstance(value, _Text) for value in (left, right)]
        if any(texts) and not self._both_numbers(left, right):
            a, b = self._text(left), self._text(right)
            if b.codes is None:
                return self._spread(a, [self._same_word(compare, op, one, b.names[0]) for one in a.names])
            if a.codes is None:
                return self._spread(b, [self._same_word(compare, op, a.names[0], one) for one in b.names])
            one, two = (np.array([*t.names, ""], dtype=object)[t.codes] for t in (a, b))
            mask = np.fromiter((compare(x, y) for x, y in zip(one, two, strict=True)), dtype=bool, count=self.n_rows)
            return mask & (a.codes >= 0) & (b.codes >= 0)
        x, y = self._number(left), self._number(right)
        mask = np.broadcast_to(np.asarray(compare(x, y)), (self.n_rows,))
        return mask & ~np.isnan(x) & ~np.isnan(y)

    @staticmethod
    def _same_word(compare: Callable[[Any, Any], Any], op: str, a: str, b: str) -> bool:
        if {a.lower(), b.lower()} <= {"true", "false"} and op in ("=", "!="):
            a, b = a.lower(), b.lower()
        return bool(compare(a, b))

    def _both_numbers(self, left: _Value, right: _Value) -> bool:
        """A number beside text compares as numbers where the text is all numbers ('007' = 7, seeds read as text)."""
        if isinstance(left, _Text) and isinstance(right, _Text):
            return False
        text = left if isinstance(left, _Text) else right
        parsed = as_numbers(np.array([*text.names, None], dtype=object))
        return not parsed.words

    def _computed(self, op: str, left: _Value, right: _Value) -> FloatArray | float:
        a, b = self._number(left), self._number(right)
        with np.errstate(all="ignore"):
            if op == "+":
                return a + b
            if op == "-":
                return a - b
            if op == "*":
                return a * b
            return np.divide(a, b) if op == "/" else np.mod(a, b)

    def _contains(self, whole: _Value, part: _Value) -> Mask:
        text, piece = self._text(whole), self._constant(part)
        return self._spread(text, [piece in one for one in text.names])

    def _matches(self, text: _Text, pattern: str) -> Mask:
        try:
            found = re.compile(pattern)
        except re.error as error:
            raise InputError(f"--where: {pattern!r} is no regular expression: {error}") from None
        return self._spread(text, [found.search(one) is not None for one in text.names])

    def _like(self, left: _Value, pattern: _Value, folded: bool) -> Mask:
        text = self._text(left)
        wild = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in self._constant(pattern))
        match = re.compile(wild, re.DOTALL | (re.IGNORECASE if folded else 0))
        return self._spread(text, [match.fullmatch(one) is not None for one in text.names])


def _goes_on(text: str, at: int, name: str) -> bool:
    """Whether a name found in the text is only the beginning of a longer word."""
    return at < len(text) and (text[at].isalnum() or text[at] == "_") and (name[-1].isalnum() or name[-1] == "_")
