"""How the benchmarks tell figures: a JSON line each. `peer` names whom a ratio compares with, or whose figure it is."""

import json
import statistics


def shorten(number):
    return float(f"{number:.4g}") if isinstance(number, float) else number


def tell(figure, value, least, most, unit, better, goal=None, peer=None, **more):
    line = {"figure": figure, "value": value, "min": least, "max": most, "unit": unit, "better": better, "goal": goal,
            "peer": peer}
    print(json.dumps({key: shorten(entry) for key, entry in line.items()} | more), flush=True)


def tell_values(figure, values, unit, better, **more):
    tell(figure, statistics.median(values), min(values), max(values), unit, better, **more)


def tell_ratio(figure, over, under, goal, better="higher", **more):
    """Of two medians; min and max are the smallest and the largest ratio of a round."""
    ratios = [a / b for a, b in zip(over, under, strict=True)]
    tell(figure, statistics.median(over) / statistics.median(under), min(ratios), max(ratios), "ratio", better, goal, **more)


def skip(figure, why):
    print(json.dumps({"figure": figure, "skipped": why}), flush=True)
