"""What a verifier brings, as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from levelbest._check import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class VerifierEffect:
    """What the selection score makes of the samples: between picking blindly and knowing the answer."""

    family: str
    n: IntArray
    oracle: FloatArray
    """The best reported score of n samples: pass@k for 0/1 scores. No verifier can do better."""
    verifier: FloatArray
    random: FloatArray
    """One sample, whatever n is."""

    @property
    def gained(self) -> FloatArray:
        """The share of the possible gain over a random pick that the verifier brings; NaN where none is possible."""
        room = self.oracle - self.random
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.abs(room) > 1e-12, (self.verifier - self.random) / room, np.nan)
