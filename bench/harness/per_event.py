# SPDX-License-Identifier: MIT
"""Cost of one event: the floor, blip and its peers, in interleaved rounds of bursts.

Every target is a process of its own, alive during the whole section; each round visits all subjects, so that a change
of the machine's mood hits all alike. The cost is CPU time per call minus that of the same call untraced: minimum
against minimum, median against median.
"""
import os
import subprocess

import peers
from peers.subject import PeerError

from . import blip, lttng, uprobes
from .rows import Check, Row, skipped
from .target import TargetError

SECTION = "per event"
FLOORS = {"blip.count": "floor.rseq_count", "blip.latency": "floor.rdtsc_twice"}  # of the others: an event
ERRORS = (TargetError, PeerError, blip.BlipError, lttng.LttngError, uprobes.UprobeError, OSError,
          subprocess.SubprocessError)


class PerEvent:
    def __init__(self, scope, settings):
        self.scope = scope
        self.settings = settings
        self.threads = min(2, os.cpu_count())
        self.subjects = {}
        self.absent = []

    def rows(self):
        for peer in peers.ALL:
            if peer.NAME == "floor" or self.settings.wanted(f"event.{peer.NAME}"):
                self._start(peer)
        for turn in range(self.settings.rounds):
            for subject in self.subjects.values():
                if turn % subject.every == 0:
                    self._visit(subject)
        self._finish()
        return self._cost_rows() + self._size_rows()

    def _start(self, peer):
        why = self.settings.unavailable.get(peer.NAME) or peer.unavailable(self.scope)
        try:
            if why:
                raise PeerError(why)
            self.subjects.update({s.id: s for s in peer.start(self.scope, self.threads)})
        except ERRORS as e:
            self.absent.append(skipped(SECTION, f"event.{peer.NAME}", peer.NAME, str(e)))

    def _visit(self, subject):
        if subject.problem:
            return
        try:
            subject.burst(self.settings.bursts, 1)
            if subject.two_threads and self.threads == 2:
                subject.burst(max(2, self.settings.bursts // 2), 2)
        except TargetError as e:
            subject.problem = str(e)

    def _finish(self):
        """Ends the tracers; a subject that lost events measured something else than recording."""
        for subject in self.subjects.values():
            try:
                subject.tracer.stop()
                subject.problem = subject.problem or subject.tracer.problem(subject)
            except ERRORS as e:
                subject.problem = subject.problem or str(e)

    # ---- results

    def _cost(self, row_id, threads=1):
        """(min, median) over the untraced call; None where not measured."""
        subject = self.subjects.get(row_id)
        if not subject or not subject.samples[threads]:
            return None
        if not subject.plain:
            return [_stat(subject.samples[threads], i) for i in (0, 1)]
        plain = self.subjects[subject.plain].samples[threads]
        return [_stat(subject.samples[threads], i) - _stat(plain, i) for i in (0, 1)] if plain else None

    def _cost_rows(self):
        rows = [self._cost_row(s, 1) for s in self.subjects.values()] + self.absent
        if self.threads == 2:
            rows += [self._cost_row(s, 2) for s in self.subjects.values() if s.two_threads]
        return rows

    def _cost_row(self, subject, threads):
        label = subject.label + (", 2 threads" if threads == 2 else "")
        row_id = f"event.{subject.id}" + (".2" if threads == 2 else "")
        cost = self._cost(subject.id, threads)
        if not cost:
            return skipped(SECTION, row_id, label, subject.problem or "not measured")
        row = Row(SECTION, row_id, label, "ns", len(subject.samples[threads]), *cost, problem=subject.problem)
        row.columns["wall"] = _stat(subject.walls[threads], 0)
        if subject.plain:
            row.columns["wall"] -= _stat(self.subjects[subject.plain].walls[threads], 0)
            self._add_ratios(row, subject, threads)
        if threads == 1:
            self._add_checks(row, subject.id)
        return row

    def _add_ratios(self, row, subject, threads):
        mine = subject.id.startswith("blip")
        floor = FLOORS.get(subject.id, "floor.rseq_event")
        others = [("x_floor", floor)]
        if mine:
            others.append(("x_lttng", "lttng"))
        elif not subject.id.startswith("floor"):
            others.append(("x_blip", "blip.reg"))
        for column, other in others:
            cost = self._cost(other, threads)
            if cost and cost[0] > 0 and cost[1] > 0:
                row.columns[column] = row.min / cost[0]
                row.columns[column + "_median"] = row.median / cost[1]

    def _add_checks(self, row, row_id):
        if row_id == "blip.reg":
            row.checks.append(Check("x floor", row.columns["x_floor"], 1.3, 1.1))
            if "x_lttng" in row.columns:
                row.checks.append(Check("x LTTng", row.columns["x_lttng"], 1 / 5, 1 / 7))
        elif row_id == "blip.tid" and self._cost("blip.reg"):
            row.checks.append(Check("x without tid", row.min / self._cost("blip.reg")[0], 1.1, 1.02))
        elif row_id == "blip.inside" and self._cost("blip.reg"):
            row.checks.append(Check("x entry", row.min / self._cost("blip.reg")[0], 1.3, 1.1))
        elif row_id == "blip.return" and self._cost("blip.reg"):
            row.checks.append(Check("x event", row.min / self._cost("blip.reg")[0], 2.5, 2))
        elif row_id == "blip.latency":
            row.checks.append(Check("ns", row.min, 30, 24))
            row.checks.append(Check("x two clock reads", row.columns["x_floor"], None, 1.5))
        elif row_id == "blip.string" and self._cost("lttng.string"):
            row.checks.append(Check("x LTTng int + string", row.min / self._cost("lttng.string")[0], 1 / 3, 1 / 5))
        elif row_id == "blip.filter":
            row.checks.append(Check("ns", row.min, 3, 1.5))
        elif row_id == "blip.shared":
            row.checks.append(Check("ns", row.min, 45, 30))
        elif row_id == "blip.count":
            row.checks.append(Check("ns", row.min, 4, 2.5))

    def _size_rows(self):
        rows = []
        for subject in self.subjects.values():
            if not subject.trace_bytes or subject.problem:
                continue
            columns = subject.trace_bytes()
            size = columns.pop("bytes")
            rows.append(Row("bytes per event", f"bytes.{subject.id}", subject.label, "B", 1, size, size, columns))
        return rows


def _stat(samples, which):
    return min(samples) if which == 0 else sorted(samples)[len(samples) // 2]
