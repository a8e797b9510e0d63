# SPDX-License-Identifier: MIT
"""Interleaves the ways of tracing, window by window, and reports medians against the untraced windows."""
import statistics

from harness import blip, uprobes
from harness.attach import measure as measure_attach
from harness.rows import Check, Row, skipped

from . import functions
from .sample import LifeError
from .tracers import BlipRecord, PerfRecord, Untraced

SECTION = "life"
ERRORS = (LifeError, blip.BlipError, uprobes.UprobeError)
LTTNG = "LTTng-UST"
UPROBE_ROUNDS = 2  # what they cost shows at once


def rows(scope, settings, module):
    """The rows of one workload: a few and many functions, each untraced, by blip, by uprobes."""
    why = module.unavailable()
    if why:
        return [skipped(SECTION, f"life.{module.NAME}", module.LABEL, why)]
    try:
        workload = module.Workload(scope, settings)
        if hasattr(workload, "rows"):
            return workload.rows()
        workload.measure(settings.life_seconds)  # warm caches
        ranked = functions.called(scope, workload)
    except ERRORS as e:
        return [skipped(SECTION, f"life.{module.NAME}", module.LABEL, str(e))]
    result = []
    for count in settings.life_counts:
        chosen = functions.cut(ranked, count)
        result += _compare(scope, settings, module, workload, count, chosen)
        if len(chosen) < count:
            break
    result.append(skipped(SECTION, f"life.{module.NAME}.lttng", f"{module.LABEL}, {LTTNG}", module.NO_LTTNG))
    if getattr(module, "ATTACH", None):
        result.append(_attach_row(scope, settings, workload, module.ATTACH, ranked))
    return result


def _compare(scope, settings, module, workload, count, chosen):
    label = f"{module.LABEL}, {len(chosen)} functions"
    makers = {"untraced": lambda: Untraced(), "blip": lambda: BlipRecord(scope, chosen)}
    makers["uprobe"] = lambda: PerfRecord(scope, chosen, workload.binary, module.EVERYWHERE)
    why = uprobes.unavailable()
    problems = {"uprobe": why} if why else {}
    tracers, samples = {}, {}
    for name, make in makers.items():
        if name not in problems:
            try:
                tracers[name], samples[name] = make(), []
            except ERRORS as e:
                problems[name] = str(e)
    for turn in range(settings.life_rounds):
        order = list(tracers) if turn % 2 == 0 else list(reversed(tracers))  # a drift of the machine cancels out
        for name in order:
            if name in problems or (name == "uprobe" and turn >= UPROBE_ROUNDS):
                continue
            try:
                samples[name].append(tracers[name].window(workload, settings.life_seconds))
            except ERRORS as e:
                problems[name] = str(e)
    names = {"untraced": Untraced.NAME, "blip": BlipRecord.NAME, "uprobe": PerfRecord.NAME}
    result = [make_row(f"life.{module.NAME}.{count}.{name}", f"{label}: {names[name]}", samples.get(name),
                       samples["untraced"], problems.get(name)) for name in names]
    if count in module.CHECKS and not result[1].problem:
        result[1].checks.append(Check("% fewer", -result[1].columns["change"], *module.CHECKS[count]))
    return result


def make_row(row_id, label, samples, plain, problem):
    if problem or not samples:
        return skipped(SECTION, row_id, label, problem or "not measured")
    values = [s.throughput for s in samples]
    row = Row(SECTION, row_id, label, "1/s", len(values), min(values), statistics.median(values))
    if samples is not plain:
        ratios = [s.throughput / p.throughput for s, p in zip(samples, plain) if p.throughput]
        row.columns["change"] = 100 * (statistics.median(ratios) - 1)
        pairs = [(s.cpu_us, p.cpu_us) for s, p in zip(samples, plain) if s.cpu_us and p.cpu_us]
        if pairs:
            row.columns["cpu_change"] = 100 * (statistics.median(s / p for s, p in pairs) - 1)
    elif len(values) >= 4:
        low, _, high = statistics.quantiles(values, n=4)
        row.columns["noise"] = 100 * (high - low) / 2 / row.median
    for column, field in (("cpu", "cpu_us"), ("tracer_cpu", "tracer_cpu_us"), ("avg", "avg_ms"), ("p99", "p99_ms"), ("hits", "hits_per_s")):
        found = [getattr(s, field) for s in samples if getattr(s, field) is not None]
        if found:
            row.columns[column] = statistics.median(found)
    if "hits" in row.columns:
        row.columns["hits_each"] = row.columns["hits"] / row.median
        row.columns["hits"] /= 1e6
        row.columns["lost"] = sum(s.lost for s in samples)
    return row


def _attach_row(scope, settings, workload, goal, ranked):
    """T and memory for many functions of the loaded process."""
    chosen = functions.cut(ranked, goal["functions"])
    if len(chosen) < goal["functions"]:
        chosen = workload.more_functions(chosen, goal["functions"])
    args = [word for f in chosen for word in ("--function", f)]
    row = measure_attach(scope, settings, goal["id"], goal["name"], workload.pids()[-1:], args)
    if not row.problem:
        row.checks.append(Check("T ms", row.median, *goal["ms"]))
        row.checks.append(Check("MB", row.columns["memory"], *goal["mb"]))
    return row
