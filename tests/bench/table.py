"""What was measured, as a table and as JSON."""

import json
import statistics
from dataclasses import asdict, dataclass, field


@dataclass
class Figure:
    """One figure of memtrace, beside those of its peers. Less is better."""

    row: str
    what: str
    unit: str
    ours: float
    peers: dict = field(default_factory=dict)  # by name: a number, or why there is none
    bound: float = None  # not more than this: asserted where it is memory


def median(values):
    return statistics.median(values)


def growth(small, large, factor):
    """The exponent: 1 grows as its input does, 0 does not grow."""
    import math

    return math.log(large / small) / math.log(factor) if small > 0 and large > 0 else 0.0


def ratio(figure, peer):
    value = figure.peers[peer]
    if not isinstance(value, (int, float)) or value <= 0 or figure.ours <= 0:
        return None
    return figure.ours / value


def number(value):
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def lines_of(figure):
    head = f"{figure.what} ({figure.unit})"
    yield f"  {head:<46} {'memtrace':<12} {number(figure.ours):>10}"
    for peer, value in figure.peers.items():
        if isinstance(value, str):
            yield f"  {'':<46} {peer:<12} {'-':>10}  {value}"
            continue
        times = ratio(figure, peer)
        told = "" if times is None else f"  {times:.2f} of it"
        yield f"  {'':<46} {peer:<12} {number(value):>10}{told}"


def text(figures):
    lines = []
    row = None
    for figure in figures:
        if figure.row != row:
            row = figure.row
            lines.append(row)
        lines.extend(lines_of(figure))
    return "\n".join(lines)


def as_json(machine, figures):
    return json.dumps({"machine": machine, "figures": [asdict(f) for f in figures]}, indent=1)


def over_bound(figures):
    """Sentences about figures that are more than they may be."""
    return [
        f"{f.row}: {f.what} is {number(f.ours)} {f.unit}, more than {number(f.bound)}"
        for f in figures
        if f.bound is not None and f.ours > f.bound
    ]
