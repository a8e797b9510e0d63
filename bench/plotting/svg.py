# SPDX-License-Identifier: MIT
"""Bars and lines as SVG text, with nothing but the standard library."""
import math
from xml.sax.saxutils import escape

COLORS = {"blip": "#1b7f4b", "floor": "#8a8f98", "lttng": "#c96a16", "uprobe": "#a3243b", "uftrace": "#6a4c93",
          "gdb": "#4a6fa5", "plain": "#8a8f98"}
FONT = 'font-family="sans-serif" font-size="12"'
GRID, INK = "#d9dce1", "#30343a"


class Svg:
    def __init__(self, width, height, title):
        self._size = width, height
        self._parts = []
        self.text(16, 22, title, size=15, bold=True)

    def line(self, x1, y1, x2, y2, color=GRID, width=1.0, dash=""):
        self._parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" '
                           f'stroke-width="{width}"{f" stroke-dasharray={chr(34)}{dash}{chr(34)}" if dash else ""}/>')

    def rect(self, x, y, width, height, color):
        self._parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" '
                           f'fill="{color}"/>')

    def path(self, points, color):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(f'<polyline points="{at}" fill="none" stroke="{color}" stroke-width="2"/>')
        for x, y in points:
            self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>')

    def text(self, x, y, text, anchor="start", size=12, bold=False, color=INK):
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {FONT.replace("12", str(size))}'
                           f'{weight} fill="{color}">{escape(text)}</text>')

    def done(self, note):
        width, height = self._size
        self.text(16, height - 8, note, size=10, color="#6b7078")
        body = "\n".join(self._parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                f'height="{height}">\n<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n')


def decades(low, high):
    return [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def log_bars(title, bars, unit, note):
    """bars: (label, value, color); lengths on a logarithmic scale."""
    left, right, top, step = 380, 90, 56, 22
    width, height = 960, top + step * len(bars) + 50
    svg = Svg(width, height, title)
    ticks = decades(min(v for _, v, _ in bars), max(v for _, v, _ in bars))
    scale = (width - left - right) / (math.log10(ticks[-1] / ticks[0]) or 1)
    for tick in ticks:
        x = left + math.log10(tick / ticks[0]) * scale
        svg.line(x, top - 8, x, top + step * len(bars))
        svg.text(x, top - 12, f"{number(tick)} {unit}", "middle", 11)
    for at, (label, value, color) in enumerate(bars):
        y, length = top + at * step, math.log10(value / ticks[0]) * scale
        svg.text(left - 8, y + 14, label, "end")
        svg.rect(left, y + 3, length, step - 7, color)
        svg.text(left + length + 5, y + 14, number(value), size=11)
    return svg.done(note)


def percent_bars(title, groups, note):
    """groups: (label, [(label, percent, color)]); 100 is a full bar."""
    left, right, top, step = 330, 90, 50, 18
    rows = sum(len(bars) + 1 for _, bars in groups)
    width, height = 960, top + rows * step + 40
    svg, y = Svg(width, height, title), top
    scale = (width - left - right) / 100
    for tick in (0, 25, 50, 75, 100):
        svg.line(left + tick * scale, top - 4, left + tick * scale, height - 36)
        svg.text(left + tick * scale, top - 8, f"{tick} %", "middle", 11)
    for label, bars in groups:
        svg.text(16, y + 13, label, bold=True)
        y += step
        for name, percent, color in bars:
            svg.text(left - 8, y + 12, name, "end", 11)
            svg.rect(left, y + 2, min(percent, 106) * scale, step - 5, color)
            svg.text(left + min(percent, 106) * scale + 5, y + 12, f"{percent:.1f} %", size=11)
            y += step
    return svg.done(note)


def log_lines(title, lines, x_label, y_label, note, x_ticks=None):
    """lines: (label, [(x, y)], color); both axes logarithmic."""
    left, right, top, bottom, width, height = 70, 270, 50, 60, 960, 480
    svg = Svg(width, height, title)
    xs, ys = [x for _, p, _ in lines for x, _ in p], [y for _, p, _ in lines for _, y in p]
    x_ticks, y_ticks = x_ticks or decades(min(xs), max(xs)), decades(min(ys), max(ys))
    x_low, x_high = math.log10(min(x_ticks[0], min(xs))), math.log10(max(x_ticks[-1], max(xs)))
    y_low, y_high = math.log10(y_ticks[0]), math.log10(y_ticks[-1])

    def place(x, y):
        return (left + (math.log10(x) - x_low) / (x_high - x_low) * (width - left - right),
                height - bottom - (math.log10(y) - y_low) / (y_high - y_low) * (height - top - bottom))

    for tick in x_ticks:
        x = place(tick, y_ticks[0])[0]
        svg.line(x, top, x, height - bottom)
        svg.text(x, height - bottom + 16, number(tick), "middle", 11)
    for tick in y_ticks:
        y = place(10 ** x_low, tick)[1]
        svg.line(left, y, width - right, y)
        svg.text(left - 6, y + 4, number(tick), "end", 11)
    svg.text((left + width - right) / 2, height - bottom + 34, x_label, "middle")
    svg.text(16, top - 10, y_label)
    _draw(svg, lines, place, width - right + 8)
    return svg.done(note)


def _draw(svg, lines, place, label_x):
    """The lines and, right of their ends, their names, kept apart."""
    below = 0.0
    for label, points, color in sorted(lines, key=lambda line: place(*line[1][-1])[1]):
        svg.path([place(x, y) for x, y in points], color)
        below = max(below + 15, place(*points[-1])[1] + 4)
        svg.text(label_x, below, label, size=11, color=color)
