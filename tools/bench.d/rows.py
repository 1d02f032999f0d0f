"""Rows of figures: medians, ratios, goals; as text, and beside those of another run."""

import json
import statistics

# From what ratio or value on a row is where it ought to be; only some rows have such a goal. A
# ratio is ours over the reference's: of times small ones are good, of rates large ones. A guide is
# a figure of one machine and decides nothing.
GOALS = {
    "append-1": {"ratio": ("<=", 1.1)},
    "append-1-new-stream": {"ratio": ("<=", 1.3)},
    "append-64": {"ratio": (">=", 5), "guide": 100_000},
    "append-64-p99": {"value": ("<=", 1500)},
    "append-1000": {"ratio": (">=", 3)},
    "append-1000-processor": {"value": ("<=", 7)},
    "append-1000-growth": {"ratio": (">=", 0.67)},
    "append-1000-written": {"ratio": ("<=", 3)},
    "import": {"ratio": (">=", 1.0)},
    "import-webhooks": {"ratio": (">=", 0.5)},
    "import-notifications": {"ratio": (">=", 0.7)},
    "backfill": {"ratio": (">=", 0.8)},
    "backfill-distant": {"ratio": (">=", 0.8)},
    "fold": {"ratio": (">=", 0.3)},
    "rebuild": {"value": (">=", 2_000_000)},
    "report-revenue-views": {"value": ("<=", 1000)},
    "report-customers-views": {"value": ("<=", 1000)},
    "report-funnel-views": {"value": ("<=", 1000)},
    "report-stages-views": {"value": ("<=", 1000)},
    "report-errors-views": {"value": ("<=", 1000)},
    "audit": {"ratio": (">=", 0.7)},
    "access": {"ratio": ("<=", 0.6), "value": ("<=", 400)},
    "state-12": {"value": ("<=", 25)},
    "state-50": {"value": ("<=", 80)},
    "explain-12": {"ratio": ("<=", 3)},
    "explain-50": {"ratio": ("<=", 3)},
    "verify-transaction": {"value": (">=", 10_000)},
    "proof-inclusion": {"value": ("<=", 1000)},
    "proof-consistency": {"value": ("<=", 1000)},
    "archive-append": {"ratio": (">=", 0.9)},
    "salvage-read": {"ratio": (">=", 0.3)},
    "space": {"ratio": ("<=", 1.5)},
    "memory-import": {"value": ("<=", 256)},
    "memory-rebuild": {"value": ("<=", 256)},
    "memory-audit": {"value": ("<=", 256)},
    "client-is-open": {"value": ("<=", 100)},
    "client-memory": {"value": ("<=", 1024)},
    "http-access": {"ratio": (">=", 0.9)},
    "http-notifications": {"value": (">=", 4000)},
    "http-play": {"ratio": (">=", 1.0)},
    "http-notifications-half-p99": {"value": ("<=", 50)},
}


def spread_of(values):
    """The largest less the smallest, over the median."""
    middle = statistics.median(values)
    return round((max(values) - min(values)) / middle, 3) if middle else 0


def rounded(value):
    """Four significant digits, but whole from a thousand on."""
    return round(value) if abs(value) >= 1000 else float("%.4g" % value)


def row(name, unit, values, references=None, against=None):
    """A row in the form of `entitle bench --json`, from the figures of its runs."""
    value = statistics.median(values)
    made = {"name": name, "value": rounded(value), "unit": unit, "reference": None,
            "referenceName": None, "ratio": None, "runs": len(values), "spread": spread_of(values)}
    if references:
        reference = statistics.median(references)
        made.update(
            reference=rounded(reference), referenceName=against,
            ratio=rounded(value / reference),
            spread=spread_of([a / b for a, b in zip(values, references, strict=True)]))
    return judged(made)


def judged(made):
    """The row with its goal and whether it is met, null where there is none; and whether the runs
    were so far apart that they do not decide it."""
    goal = GOALS.get(made["name"], {})
    words, met, close = [], [], False
    for figure in ("ratio", "value"):
        if figure not in goal:
            continue
        sign, limit = goal[figure]
        words.append("%s %s %.12g" % (figure, sign, limit))
        reached = made[figure]
        if reached is not None:
            met.append(reached <= limit if sign == "<=" else reached >= limit)
            close = close or abs(reached - limit) <= noise(made, figure)
    if "guide" in goal:
        words.append("guide %g" % goal["guide"])
    made["goal"] = ", ".join(words) or None
    made["met"] = all(met) if met else None
    made["isClose"] = close
    return made


def noise(made, figure):
    """Half of what the runs of a figure spread over."""
    return abs(made[figure]) * made["spread"] / 2


# MARK: Text

def table(heading, lines, numbers):
    """Aligned columns; those in `numbers` to the right."""
    cells = [heading, *lines]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heading))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in cells)


def shown(value):
    return "" if value is None else "%d" % value if abs(value) >= 1000 else "%.4g" % value


def verdict(made):
    """Whether the goal is met; with a question mark where another run may say otherwise."""
    word = {True: "yes", False: "NO", None: ""}[made["met"]]
    return word + "?" if made["isClose"] else word


def text_of(rows):
    return table(
        ["row", "value", "unit", "reference", "ratio", "spread", "runs", "goal", "met", "against"],
        [[each["name"], shown(each["value"]), each["unit"], shown(each["reference"]),
          shown(each["ratio"]), "%.0f %%" % (100 * each["spread"]), str(each["runs"]),
          each["goal"] or "", verdict(each),
          each["referenceName"] or ""] for each in rows],
        {1, 3, 4, 5, 6})


# MARK: Beside another run

def last_result(path):
    """The last result of a file: one document, or a history with one a line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return json.loads(text)
    except ValueError:
        return json.loads([line for line in text.splitlines() if line.strip()][-1])


def comparison(old, new):
    """What changed from one result to another, and why the two may not compare."""
    warnings = [
        "%s differs: %s, now %s" % (name, old["machine"].get(name), new["machine"].get(name))
        for name in ("processor", "cores", "memoryBytes", "kernel", "fileSystem")
        if old["machine"].get(name) != new["machine"].get(name)]
    warnings += ["%s differs: %s, now %s" % (name, old.get(name), new.get(name))
                 for name in ("events", "quick") if old.get(name) != new.get(name)]
    before = {each["name"]: each for each in old["rows"]}
    rows = []
    for each in new["rows"]:
        was = before.get(each["name"])
        if was is None:
            continue
        # Ratios of one run are what compares; a value hangs on the hour.
        figure = "ratio" if None not in (each["ratio"], was["ratio"]) else "value"
        difference = each[figure] - was[figure]
        # Of a single run it is not known how far others would be from it.
        beyond = None
        if min(each["runs"], was["runs"]) > 1:
            beyond = abs(difference) > noise(each, figure) + noise(was, figure)
        rows.append({"name": each["name"], "of": figure, "old": was[figure], "new": each[figure],
                     "change": round(difference / was[figure], 3) if was[figure] else None,
                     "beyondSpread": beyond})
    return {"commit": old["machine"].get("commit"), "warnings": warnings, "rows": rows}


def comparison_text(found):
    lines = ["compared with commit %s" % found["commit"]]
    lines += ["warning: %s" % warning for warning in found["warnings"]]
    lines.append(table(
        ["row", "of", "old", "new", "change", "beyond spread"],
        [[each["name"], each["of"], shown(each["old"]), shown(each["new"]),
          "" if each["change"] is None else "%+.0f %%" % (100 * each["change"]),
          {True: "yes", False: "", None: "?"}[each["beyondSpread"]]]
         for each in found["rows"]],
        {2, 3, 4}))
    return "\n".join(lines)
