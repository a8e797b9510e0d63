#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/plots/*.svg from a result: the file given, or the newest bench/results/*.json."""
import argparse
import glob
import json
import os
import sys

from plotting import svg

HERE = os.path.dirname(os.path.abspath(__file__))
PLOTS = os.path.join(HERE, "..", "docs", "plots")
LEAST_NS = 0.1  # smaller costs are below what is resolved
LEAST_PERCENT = 0.1


def color(row_id):
    part = row_id.split(".")[1]
    part = {"bpftrace": "uprobe", "perf": "uprobe", "untraced": "plain"}.get(part, part)
    return svg.COLORS.get(part, svg.COLORS["plain"])


def by_name(text):
    for key, value in (("blip", "blip"), ("LTTng", "lttng"), ("uprobe", "uprobe"), ("bpftrace", "uprobe")):
        if key in text:
            return svg.COLORS[value]
    return svg.COLORS["plain"]


def measured(result, section):
    return [r for r in result["rows"] if r["section"] == section and r["min"] is not None and r["verdict"] != "VOID"]


def per_event(result, note):
    rows = [r for r in measured(result, "per event")
            if not r["id"].endswith(".2") and r["id"] not in ("event.untraced", "event.floor.plain")]
    bars = sorted(((r["name"], max(r["min"], LEAST_NS), color(r["id"])) for r in rows), key=lambda bar: bar[1])
    return svg.log_bars("Cost of one event: ns of CPU time over the untraced call (least of all bursts)", bars, "ns",
                        note) if bars else None


def _lines(rows, x, y):
    lines = {}
    for row in rows:
        label = row["name"].rsplit(",", 1)[0]
        lines.setdefault(label, []).append((row["columns"][x], max(y(row), LEAST_NS)))
    return [(label, sorted(points), by_name(label)) for label, points in lines.items() if len(points) > 1]


def threads(result, note):
    rows = [r for r in measured(result, "threads") if "threads" in r["columns"] and ".untraced." not in r["id"]]
    counts = sorted({r["columns"]["threads"] for r in rows})
    lines = _lines(rows, "threads", lambda r: r["min"])
    return svg.log_lines("Cost of one event with more threads on the same cores", lines, "threads", "ns per event", note,
                         counts) if lines else None


def curve(result, note):
    lines = _lines(measured(result, "curve"), "work", lambda r: max(r["median"], LEAST_PERCENT))
    return svg.log_lines("How much slower a traced function is, by the work it does", lines,
                         "ns of work per call, untraced", "% more time", note) if lines else None


def life(result, note):
    groups = {}
    for row in measured(result, "life"):
        if "change" in row["columns"]:
            group, name = row["name"].rsplit(": ", 1)
            groups.setdefault(group, []).append((name, 100 + row["columns"]["change"], by_name(name)))
    return svg.percent_bars("Real programs under load: throughput that is left while tracing", list(groups.items()),
                            note) if groups else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", nargs="?", help="a JSON file of bench/run.py")
    parser.add_argument("--out", default=PLOTS, help="directory of the plots (default: docs/plots)")
    options = parser.parse_args()
    path = options.result or max(glob.glob(os.path.join(HERE, "results", "*.json")), default=None)
    if not path:
        sys.exit("plots: no bench/results/*.json; run bench/run.py --json bench/results/DATE.json")
    with open(path, encoding="utf-8") as f:
        result = json.load(f)
    machine = result["machine"]
    note = f"{machine['date']}, {machine['cpu']}, {machine['cpus']} cpus, kernel {machine['kernel']}, {machine['mode']} run"
    os.makedirs(options.out, exist_ok=True)
    for name, draw in (("per_event", per_event), ("threads", threads), ("curve", curve), ("life", life)):
        picture = draw(result, note)
        if not picture:
            print(f"plots: nothing measured for {name}", file=sys.stderr)
            continue
        with open(os.path.join(options.out, f"{name}.svg"), "w", encoding="utf-8") as f:
            f.write(picture)


if __name__ == "__main__":
    main()
