# SPDX-License-Identifier: MIT
"""Rows of the result, and the goals of the issue they are held against."""
import dataclasses
import statistics
from typing import Optional


@dataclasses.dataclass
class Check:
    """One goal: `value` should be at most (or, with at_least, at least) `must`; `reach` is what we hope for."""
    what: str
    value: float
    must: Optional[float]
    reach: float
    at_least: bool = False

    def _meets(self, limit):
        if limit is None:
            return True
        return self.value >= limit if self.at_least else self.value <= limit

    def passed(self):
        return self._meets(self.must)

    def reached(self):
        return self._meets(self.reach)

    def text(self):
        sign = ">=" if self.at_least else "<="
        goal = f"must {sign} {self.must:g}" if self.must is not None else "no must"
        value = str(self.value) if isinstance(self.value, int) else f"{self.value:.3g}"
        return f"{self.what} {value} ({goal}, reach {self.reach:.3g})"

    def to_json(self):
        return dict(dataclasses.asdict(self), passed=self.passed(), reached=self.reached())


@dataclasses.dataclass
class Row:
    """A measurement. `columns` are its further numbers by name; `problem` says why it is void or absent."""
    section: str
    id: str
    name: str
    unit: str = ""
    samples: int = 0
    min: Optional[float] = None
    median: Optional[float] = None
    columns: dict = dataclasses.field(default_factory=dict)
    checks: list = dataclasses.field(default_factory=list)
    problem: Optional[str] = None

    def verdict(self):
        if self.problem:
            return "VOID" if self.min is not None else "skipped"
        if not self.checks:
            return ""
        if not all(c.passed() for c in self.checks):
            return "MISS"
        if all(c.reached() for c in self.checks):
            return "reached"
        return "ok" if any(c.must is not None for c in self.checks) else "below"

    def to_json(self):
        fields = dataclasses.asdict(self)
        return dict(fields, checks=[c.to_json() for c in self.checks], verdict=self.verdict())


def skipped(section, row_id, name, why):
    return Row(section, row_id, name, problem=why)


def summarize(values):
    """min and median of samples."""
    return {"min": min(values), "median": statistics.median(values), "samples": len(values)}
