"""The designs that come with the package, the one that is asked first below."""

from __future__ import annotations

from levelbest.designs._protocol import register_design
from levelbest.designs.configurations import Configurations
from levelbest.designs.cost import Cost
from levelbest.designs.pairs import Pairs
from levelbest.designs.problems import ProblemsDesign
from levelbest.designs.running import Running
from levelbest.designs.searches import Searches
from levelbest.designs.seeds import Seeds
from levelbest.designs.trials import IndependentTrials

__all__: list[str] = []

for _design in (IndependentTrials, Seeds, Pairs, Configurations, Running, Cost, Searches, ProblemsDesign):
    register_design(_design)
