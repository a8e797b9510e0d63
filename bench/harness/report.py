# SPDX-License-Identifier: MIT
"""The table for people and the JSON for programs."""
import json

BUSY = 0.5  # load per cpu from which on the reader is warned

# Per section: heading and (title, how to get the cell from the row) of every column.
COLUMNS = {
    "per event": ("ns of CPU time per event, over the same call untraced", [
        ("min", "min", "{:.2f}"), ("median", "median", "{:.2f}"), ("wall", "wall", "{:.2f}"),
        ("x floor", "x_floor", "{:.2f}"), ("(median)", "x_floor_median", "{:.2f}"), ("x LTTng", "x_lttng", "{:.3f}"),
        ("x blip", "x_blip", "{:.1f}")]),
    "threads": ("ns of CPU time per event over the same call untraced, threads on the same cores", [
        ("min", "min", "{:.2f}"), ("median", "median", "{:.2f}")]),
    "curve": ("% more CPU time per call of a function that works for a while", [
        ("work ns", "work", "{:.0f}"), ("min %", "min", "{:.1f}"), ("median %", "median", "{:.1f}")]),
    "bytes per event": ("bytes per event in the trace directory", [
        ("bytes", "min", "{:.2f}"), ("without padding", "without_padding", "{:.2f}")]),
    "attach": ("ms; T from blip's start to the last probe live, P the longest stop of a thread; medians", [
        ("armed", "armed", "{:d}"), ("refused", "refused", "{:d}"), ("T min", "min", "{:.1f}"),
        ("T", "median", "{:.1f}"), ("instrum.", "instrumentation", "{:.1f}"),
        ("registr.", "registration", "{:.1f}"), ("P", "pause", "{:.2f}"), ("detach", "detach", "{:.1f}"),
        ("its P", "detach_pause", "{:.2f}"), ("MB", "memory", "{:.0f}")]),
    "dwarf": ("ms; T from blip's start to the last probe live, and blip's memory, on a program with much debugging information", [
        ("T min", "min", "{:.1f}"), ("T", "median", "{:.1f}"), ("P", "pause", "{:.2f}"), ("MB", "memory", "{:.0f}")]),
    "backtrace": ("ns that a stack takes, without frame pointers, beside others' ways", [
        ("min", "min", "{:.1f}"), ("median", "median", "{:.1f}"), ("per frame", "ns per frame", "{:.1f}")]),
    "interpreter": ("ns that an operation, and a handler of few, takes in blip", [("min", "min", "{:.2f}")]),
    "scale": ("ms; as above, and the wall time of listing a file", [
        ("functions", "functions", "{:d}"), ("min", "min", "{:.1f}"), ("median", "median", "{:.1f}"),
        ("P", "pause", "{:.2f}"), ("MB", "memory", "{:.0f}")]),
    "detach": ("ms; bpftrace's start to the last function patched, and SIGINT to its end", [
        ("attach", "min", "{:.0f}"), ("detach", "detach", "{:.0f}"), ("per probe", "per_probe", "{:.1f}"),
        ("left", "left", "{:d}")]),
    "fork": ("us that fork() takes; the same process, traced and untraced in turn", [
        ("min", "min", "{:.0f}"), ("median", "median", "{:.0f}"), ("untraced", "untraced", "{:.0f}"),
        ("ratio", "ratio", "{:.2f}")]),
    "pauses": ("longest pause that a thread of the target sees by its own clock, over what blip says; medians in ms", [
        ("ratio", "median", "{:.2f}"), ("least", "min", "{:.2f}"), ("most", "most", "{:.2f}"), ("seen", "seen_ms", "{:.3f}"), ("said", "said_ms", "{:.3f}")]),
    "drain": ("steady rate, default buffers; capacity = events per second of consumer CPU", [
        ("M/s", "rate", "{:.2f}"), ("% of a core", "min", "{:.1f}"), ("discarded", "discarded", "{:d}"),
        ("capacity M/s", "capacity", "{:.0f}"), ("B/event", "bytes", "{:.2f}")]),
    "life": ("real programs under load: change of throughput and latency against the untraced windows between; medians", [
        ("per s", "median", lambda v: f"{v:.0f}" if v >= 100 else f"{v:.3g}"), ("change %", "change", "{:+.1f}"), ("noise %", "noise", "{:.1f}"),
        ("CPU us", "cpu", "{:.0f}"), ("tracer's", "tracer_cpu", "{:.0f}"), ("CPU %", "cpu_change", "{:+.1f}"), ("avg ms", "avg", "{:.3f}"),
        ("p99 ms", "p99", "{:.2f}"), ("M hits/s", "hits", "{:.3f}"), ("hits each", "hits_each", "{:.0f}"),
        ("lost", "lost", "{:d}")]),
    "coverage": ("share of instructions and function entries that a jump can be put on, at ASLR'd addresses", [
        ("total", "total", "{:d}"), ("refused", "refused", "{:d}"), ("%", "min", "{:.3f}"), ("plan ms", "ms", "{:.0f}"),
        ("pages", "pages", "{:d}")]),
}


def _cell(row, key, form):
    value = getattr(row, key) if key in ("min", "median") else row.columns.get(key)
    return "-" if value is None else form(value) if callable(form) else form.format(value)


def _goals(row):
    if row.problem:
        return row.problem
    return "; ".join(c.text() for c in row.checks)


def _section(name, rows):
    heading, columns = COLUMNS[name]
    cells = [[""] + [title for title, *_ in columns] + ["verdict", "goals"]]
    for row in rows:
        cells.append([row.name] + [_cell(row, key, form) for _, key, form in columns] + [row.verdict(), _goals(row)])
    return f"{name.upper()}: {heading}", cells


def table(facts, rows):
    """One aligned table; rows that miss a must are marked MISS, void measurements VOID."""
    unknown = {r.section for r in rows} - set(COLUMNS)
    if unknown:
        raise ValueError(f"rows of sections that have no columns: {unknown}")
    sections = [(name, [r for r in rows if r.section == name]) for name in COLUMNS]
    out = [f"{facts['cpu']}, {facts['cpus']} cpus{' (virtual)' * facts['virtual']}, {facts['system']}, "
           f"kernel {facts['kernel']}, {facts['glibc']}",
           f"{facts['date']}, as {facts['user']}, load {facts['load_before']:.1f} before and "
           f"{facts['load_after']:.1f} after, {facts['mode']}, {facts['seconds']:.0f} s; "
           f"{facts['blip']}",
           "; ".join(text if text != "not installed" else f"{name} not installed"
                     for name, text in facts["tools"].items())]
    if facts["load_before"] > BUSY * facts["cpus"]:
        out.append("THE MACHINE WAS BUSY: medians, times in ms and the drain section are worse than they should be")
    for name, members in sections:
        if not members:
            continue
        title, cells = _section(name, members)
        out += ["", title] + _align(cells, max(len(r.name) for r in members))
    missed = [r.name for r in rows if r.verdict() == "MISS"]
    void = [r.name for r in rows if r.verdict() == "VOID"]
    out += ["", f"must goals missed: {', '.join(missed) or 'none'}" + (f"; void: {', '.join(void)}" if void else "")]
    return "\n".join(out) + "\n"


def _align(cells, name_width):
    numbers = len(cells[0]) - 3
    widths = [max(len(row[1 + i]) for row in cells) for i in range(numbers + 1)]
    rule = "-" * (name_width + sum(widths) + 2 * len(widths))
    lines = []
    for at, row in enumerate(cells):
        parts = [row[0].ljust(name_width)] + [row[1 + i].rjust(widths[i]) for i in range(numbers)]
        parts += [row[-2].ljust(widths[-1]), row[-1]]
        lines.append("  ".join(parts).rstrip())
        if at == 0:
            lines.append(rule)
    return lines


def write_json(path, facts, rows):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"machine": facts, "rows": [r.to_json() for r in rows]}, f, indent=1)
        f.write("\n")
