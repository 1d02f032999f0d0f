"""What Prometheus has of a server after a scrape: names, labels and their values."""

import json
import os
import re

# The scrape's job that rules, board and the page "Run it" go by.
JOB = "entitle"
# Labels that Prometheus sets itself; what a server exposes under such a name, Prometheus calls `exported_…`.
TARGET_LABELS = ("job", "instance")
ANY = None
# What the server's source tells and no short run shows.
SELDOM = {"entitle_signals_total": {"outcome": {"known"}}}


def read_json(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


class Exposed:
    """Names of series, each with its labels and the values that they may have (`ANY`: all)."""

    def __init__(self, folder, alerts):
        self.series = {}
        with open(os.path.join(folder, "metrics"), encoding="utf-8") as file:
            text = file.read()
        self.families = set(re.findall(r"^# TYPE (\S+)", text, re.M))
        for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.M):
            known = self.series.setdefault(name, {"job": {JOB}, "instance": ANY})
            for label, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels):
                label = "exported_" + label if label in TARGET_LABELS else label
                known.setdefault(label, set()).add(value)
        self.complete(read_json(folder, "openapi.json"), read_json(folder, "status.json"))
        for name, labels in SELDOM.items():
            for label, values in labels.items():
                self.series[name][label] |= values
        # Prometheus' own.
        self.series["up"] = {"job": {JOB}, "instance": ANY}
        self.series["ALERTS"] = {"alertname": set(alerts), "alertstate": {"pending", "firing"}}

    def complete(self, description, status):
        """Adds the values that no short run shows all of, as the server lists them."""
        operations = [operation for path in description["paths"].values()
                      for operation in path.values() if "operationId" in operation]
        more = {
            "operation": {operation["operationId"] for operation in operations},
            "status": {status for operation in operations for status in operation["responses"]},
            "name": {job["name"] for job in status["jobs"]}}
        for labels in self.series.values():
            for label, values in more.items():
                if label in labels:
                    labels[label] |= values

    def complaints(self, series):
        """What is wrong with a selector."""
        labels = self.series.get(series.name)
        if labels is None:
            yield "no metric is called %s" % series.name
            return
        for label, sign, value in series.matchers:
            if label not in labels:
                yield "%s has no label %s" % (series.name, label)
            elif labels[label] is not ANY:
                # Each way of a choice has to be one that there is.
                for way in value.split("|") if sign.endswith("~") else [re.escape(value)]:
                    if not any(re.fullmatch(way, known) for known in labels[label]):
                        yield "%s has no %s %s" % (series.name, label, way)

    def labels(self, series):
        """Labels that any of some series has."""
        return set().union(*(self.series.get(one.name, {}) for one in series))
