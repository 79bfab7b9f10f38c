"""Pictures of studies' figures as SVG, for `scripts/gallery.py`: ours with 95 % intervals, what is published beside."""

import math
import textwrap
from collections.abc import Callable
from html import escape
from typing import Any

WIDTH, LEFT, RIGHT = 360, 50, 12
#: Characters of a line of a label.
LABEL = 54
COLOURS = 6
DASHES = ("", "6 3", "2 2", "9 3 2 3", "1 4")


def told(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


class Axis:
    """From values to places on the page."""

    def __init__(self, values: list[float], start: float, end: float, log: bool, zero: bool = True) -> None:
        low, high = min(values), max(values)
        self.log, self.start, self.end = log, start, end
        if log:
            self.low, self.high = math.log10(low), math.log10(high)
        else:
            self.low, self.high = (min(low, 0.0) if zero else low), (max(high, 0.0) if zero else high)
        if self.high == self.low:
            self.high, self.low = self.high + 0.5, self.low - 0.5
        room = 0.04 * (self.high - self.low)
        self.low, self.high = self.low - (room if self.log or not zero or low < 0 else 0), self.high + room

    def __call__(self, value: float) -> float:
        if self.log:
            value = math.log10(value) if value > 0 else self.low
        part = (value - self.low) / (self.high - self.low)
        return round(self.start + (self.end - self.start) * min(max(part, 0.0), 1.0), 1)

    def ticks(self) -> list[float]:
        """Round values within, some five."""
        if self.log:
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            steps = (1,) if self.high - self.low > 3 else (1, 3) if self.high - self.low > 1.2 else (1, 2, 5)
            values = [step * 10.0**power for power in powers for step in steps]
            return [value for value in values if self.low <= math.log10(value) <= self.high]
        least = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(least))
        step = next(power * by for by in (1, 2, 5, 10) if power * by >= least)
        return [step * number for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def words(x: float, y: float, said: str, anchor: str = "start", extra: str = "") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{extra}>{escape(said)}</text>'


def spread(values: list[float]) -> bool:
    """Whether values want a logarithmic axis."""
    return min(values) > 0 and max(values) > 50 * min(values)


def all_values(figure: dict[str, Any]) -> list[float]:
    """What the axis of values has to hold. An interval that reaches below zero is cut where the axis is logarithmic."""
    values = [mean for curve in figure["curves"] for mean in curve["mean"]]
    values += [one["value"] for one in figure["published"]]
    if spread(values):
        return values
    pairs = [pair for curve in figure["curves"] for pair in zip(curve["mean"], curve["half"], strict=True)]
    least = 0.0 if min(values) >= 0 else -math.inf
    return values + [max(mean + sign * half, least) for mean, half in pairs for sign in (-1, 1)]


def diamond(x: float, y: float, judged: bool = True) -> str:
    return f'<path class="{"published" if judged else "aside"}" d="M{x} {y - 5:.1f}l5 5l-5 5l-5 -5z"/>'


def mark(x: float, y: float, shape: int) -> str:
    if shape == 0:
        return f'<circle cx="{x}" cy="{y}" r="3"/>'
    if shape == 1:
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>'
    return f'<path d="M{x} {y - 4:.1f}l4 7h-8z"/>'


def picture(height: float, said: str, parts: list[str]) -> str:
    return "\n".join([f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(said)}">', *parts, "</svg>"])


def scale(axis: Axis, ticks: list[tuple[float, str]], bottom: float, top: float) -> list[str]:
    """Lines and figures of a horizontal axis; of figures that would overlap, the first."""
    out, free = [], 0.0
    for value, said in ticks:
        at, half = axis(value), 3.4 * len(said)
        out.append(f'<path class="grid" d="M{at} {top}V{bottom}"/>')
        if at - half >= free:
            place = min(at, WIDTH - half)
            out.append(words(round(place, 1), bottom + 14, said, "middle"))
            free = place + half + 6
    return out


def lines(figure: dict[str, Any]) -> str:
    """Values over x: a colour for each series, a dash for each assumption."""
    x, curves = figure["x"], figure["curves"]
    series = list(dict.fromkeys(curve["series"] for curve in curves))
    assumptions = list(dict.fromkeys(curve.get("assumption") for curve in curves))
    values = all_values(figure)
    places = sorted({at for curve in curves if not curve.get("constant") for at in curve["x"]})
    top, bottom = 8.0, 196.0
    across = Axis(places, LEFT, WIDTH - RIGHT, bool(x["log"]) and min(places) > 0, zero=False)
    up = Axis(values, bottom, top, spread(values))
    out = []
    for value in up.ticks():
        out.append(f'<path class="grid" d="M{LEFT} {up(value)}H{WIDTH - RIGHT}"/>')
        out.append(words(LEFT - 5, up(value) + 4, told(value), "end"))
    named = [(at, x["categories"][round(at)] if x["categories"] else told(at)) for at in places]
    if not x["categories"] and len(places) > 9:
        named = [(at, told(at)) for at in across.ticks()]
    out += scale(across, named, bottom, bottom - 4)
    unit = f", {x['unit']}" if x["unit"] else ""
    out.append(words((LEFT + WIDTH) / 2, bottom + 30, x["label"] + unit, "middle"))
    out.append(f'<path class="axis" d="M{LEFT} {top}V{bottom}H{WIDTH - RIGHT}"/>')
    for curve in curves:
        number = series.index(curve["series"])
        dash = DASHES[assumptions.index(curve.get("assumption")) % len(DASHES)]
        if curve.get("constant"):
            out.append(stroke(number, dash, f"M{LEFT} {up(curve['mean'][0])}H{WIDTH - RIGHT}"))
            continue
        points = sorted(zip(curve["x"], curve["mean"], curve["half"], strict=True))
        out.append(stroke(number, dash, "M" + "L".join(f"{across(at)} {up(mean)}" for at, mean, _ in points)))
        out.append(f'<g class="points" {own(number)}>')
        for at, mean, half in points:
            out.append(f'<path d="M{across(at)} {up(mean - half)}V{up(mean + half)}"/>')
            out.append(mark(across(at), up(mean), number // COLOURS))
        out.append("</g>")
    for one in figure["published"]:
        if one["x"] is None:
            out.append(f'<path class="level" d="M{LEFT} {up(one["value"])}H{WIDTH - RIGHT}"/>')
        else:
            out.append(diamond(across(one["x"]), up(one["value"]), one["judged"]))
    legend, height = key(figure, series, assumptions, bottom + 50)
    return picture(height, figure["title"], out + legend)


def own(number: int) -> str:
    return f'style="--own: var(--series-{number % COLOURS})"'


def stroke(number: int, dash: str, path: str) -> str:
    return f'<path class="line" {own(number)}' + (f' stroke-dasharray="{dash}"' if dash else "") + f' d="{path}"/>'


def key(figure: dict[str, Any], series: list[str], assumptions: list[str | None], y: float) -> tuple[list[str], float]:
    """What colours, dashes and diamonds of `lines` mean, from y on; and where it ends."""
    out = []

    def row(name: str, sign: Callable[[float], str]) -> None:
        nonlocal y
        out.append(sign(y - 4))
        for line in textwrap.wrap(name, LABEL - 5):
            out.append(words(32, y, line))
            y += 16

    for number, name in enumerate(series):
        shape = number // COLOURS
        sign = f'<g class="points" {own(number)}>%s</g>'
        row(name, lambda y: sign % mark(14, y, shape) + stroke(number, "", f"M4 {y}H24"))
    for number, name in enumerate(assumptions) if len(assumptions) > 1 else ():
        dash = DASHES[number % len(DASHES)]
        row(name or "as stated", lambda y: f'<path class="axis" stroke-dasharray="{dash}" d="M4 {y}H24"/>')
    if any(one["x"] is None for one in figure["published"]):
        row("published", lambda y: f'<path class="level" d="M4 {y}H24"/>')
    for judged, name in ((True, "published"), (False, "published, not judged")):
        if any(one["x"] is not None and one["judged"] is judged for one in figure["published"]):
            row(name, lambda y: diamond(14, y, judged))
    return out, y - 6


def dots(figure: dict[str, Any]) -> str:
    """A row for each value, with its name above it."""
    values = all_values(figure)
    across = Axis(values, 8, WIDTH - RIGHT, spread(values))
    rows: list[str] = []
    y, assumption = 14.0, None
    for curve in figure["curves"]:
        if curve.get("assumption") != assumption:
            assumption = curve.get("assumption")
            for line in textwrap.wrap(assumption or "", LABEL - 4):
                rows.append(words(8, y, line, extra=' class="heading"'))
                y += 14
            y += 2
        mean, half = curve["mean"][0], curve["half"][0]
        # A value and its interval stay on one line.
        value = f"{told(mean)}\u00a0±\u00a0{told(half)}" if half else told(mean)
        for line in textwrap.wrap(f"{curve['series']}: {value}", LABEL):
            rows.append(words(8, y, line))
            y += 14
        rows.append(f'<path class="grid" d="M8 {y}H{WIDTH - RIGHT}"/>')
        for one in figure["published"]:
            if one["series"] != curve["series"]:
                continue
            if one["judged"]:
                low, high = (across(one["value"] * (1 + sign * one["tolerance"])) for sign in (-1, 1))
                rows.append(f'<rect class="band" x="{low}" y="{y - 5}" width="{max(high - low, 1):.1f}" height="10"/>')
            rows.append(diamond(across(one["value"]), y, one["judged"]))
        interval = f"M{across(mean - half)} {y}H{across(mean + half)}"
        rows.append(f'<g class="points" {own(0)}><path d="{interval}"/>{mark(across(mean), y, 0)}</g>')
        y += 22
    bottom = y - 8
    out = scale(across, [(value, told(value)) for value in across.ticks()], bottom, bottom - 4) + rows
    out.append(f'<path class="axis" d="M8 {bottom}H{WIDTH - RIGHT}"/>')
    return picture(bottom + 20, figure["title"], out)
