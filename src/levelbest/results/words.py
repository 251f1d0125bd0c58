"""The words of a design: what its units are called and how a sentence names a budget of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DesignWords:
    """What a design calls the things it counts. `levelbest.report` writes every sentence, table and figure with these
    words and never asks which design it is. The defaults are those of independent trials.

    Parameters
    ----------
    unit, units
        What a budget counts, and its plural where that is not the word with an s.
    part
        What is run and can fail, where a unit consists of several: the runs of a configuration.
    single
        How the only budget is named, where the question is about one further unit: ``a new run``.
    group
        What the units are samples of, where values are averaged over such groups: ``problem``.
    exchanged
        What is exchanged between the families under equal distributions, in the plural, where that is not the unit.
    drawn
        How n units are chosen, where that has to be said: ``drawn at random``.
    judged
        What a unit is judged by, where that is not its score: ``by the mean over its runs``.
    scope
        What else the confidence is about: ``valid at every look``.
    few
        What is scarce where a verdict rests on the assumption of normal means: ``so few searches``.
    unchecked, badge
        What is said of scores that no other score confirms, in a sentence and in a mark beside the title.
    winner
        What the score of the best unit observed is called in a table.
    repeated
        What more of would decide, where it is neither the unit nor the group: ``search``.
    ran, estimated
        Two sentences for a methods paragraph: what was run and is reported, and how values are estimated. The names in
        braces are filled in: ``many``, ``each``, ``unit``, ``units``, ``families``, ``systems``, ``score``, ``column``,
        ``drawn``, ``groups``, ``runs``, ``searches`` and ``ties``.
    """

    unit: str = "trial"
    units: str = ""
    part: str = ""
    single: str = ""
    group: str = ""
    exchanged: str = ""
    drawn: str = ""
    judged: str = ""
    scope: str = ""
    few: str = "so few"
    unchecked: str = "validation only"
    badge: str = "validation only"
    winner: str = "observed best"
    repeated: str = ""
    ran: str = (
        "We ran {many} {units}{each} of {families} and report {score} as a function of the number of {units} n{drawn} "
        "[1, 2]."
    )
    estimated: str = "Expected values are the unbiased estimate over all subsets of n {units} [3]; {ties}."

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", self.units or f"{self.unit}s")
        object.__setattr__(self, "part", self.part or self.unit)
        object.__setattr__(self, "exchanged", self.exchanged or (f"{self.group}s" if self.group else self.units))

    @property
    def parts(self) -> str:
        """The plural of what can fail."""
        return f"{self.part}s" if self.in_parts else self.units

    @property
    def in_parts(self) -> bool:
        """Whether a unit consists of several parts, which fail one by one."""
        return self.part != self.unit

    @property
    def planned(self) -> str:
        """What more of would decide: groups, where there are any."""
        return self.repeated or self.group or self.unit

    def count(self, n: object, number: str = "") -> str:
        """``1 trial``, ``3 trials``; ``number`` is how the number is written, where not in digits.

        Examples
        --------
        >>> DesignWords(unit="search", units="searches").count(2)
        '2 searches'
        """
        return f"{number or format(n, '')} {self.unit if n == 1 else self.units}"


TRIALS = DesignWords()


class OverBudgets:
    """What results over budgets have in common: what a budget counts."""

    words: DesignWords
    axis: str

    @property
    def unit(self) -> str:
        """The word for what a budget counts: ``trial``, ``run``, ``sample``."""
        return self.words.unit

    @property
    def over_cost(self) -> bool:
        """Whether budgets are costs."""
        return self.axis == "cost"
