"""Is it a random sample? What a careful reviewer would test."""

from __future__ import annotations

__all__ = []
