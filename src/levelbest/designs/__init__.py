"""Designs: what is repeated, and what follows for curves, differences and verdicts.

A design answers the protocol of `levelbest.designs._protocol`; `register_design` adds one.
"""

from __future__ import annotations

from levelbest.designs._protocol import Design, FamilyCounts, Request, Table, design_of, register_design
from levelbest.designs._table import TableDesign
from levelbest.results import DesignWords

__all__ = ["Design", "DesignWords", "FamilyCounts", "Request", "Table", "TableDesign", "design_of", "register_design"]
