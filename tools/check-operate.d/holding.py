"""Holds rules, their tests and the board against what a server exposes: holding.py SCRAPED FOLDER

SCRAPED is where scrape.py left what it read; FOLDER has the files of tools/operate. Says what is wrong, a line each,
and ends with 1 then. Whether expressions are PromQL is said by promtool.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml

from exposed import JOB, Exposed, read_json
from harness.start import ROOT
from promql import names

PAGES = os.path.join(ROOT, "Sources", "EntitlementLedger", "EntitlementLedger.docc")
SEVERITIES = {"critical", "warning"}
# What Grafana puts in the place of its variables, so that an expression can be judged without it.
GRAFANA = {"$__rate_interval": "5m", "$instance": ".+"}


def complaints_of(expression, exposed, shown=()):
    """What is wrong with the names of an expression, and with labels that are shown beside it."""
    try:
        series, groupings = names(expression)
    except ValueError as error:
        yield str(error)
        return
    for one in series:
        yield from exposed.complaints(one)
    for label in sorted((groupings | set(shown)) - exposed.labels(series) - {"le"}):
        yield "nothing in it has a label %s" % label


# Rules


def page_titles():
    """Each page's title with its headings."""
    titles = {}
    for path in glob.glob(os.path.join(PAGES, "*.md")):
        with open(path, encoding="utf-8") as file:
            lines = re.findall(r"^(#+) (.*)$", file.read(), re.M)
        titles[lines[0][1]] = {heading for _, heading in lines[1:]}
    return titles


def commands(command, name=()):
    """Each command by its words, with its flags, and None among them where it takes arguments."""
    arguments = command.get("arguments", [])
    found = {name: {option["name"] for argument in arguments for option in argument.get("names", [])}
             | {None for argument in arguments if argument["kind"] == "positional"}}
    for part in command.get("subcommands", []):
        found.update(commands(part, (*name, part["commandName"])))
    return found


class Documentation:
    """Pages, commands and settings that an alert may name."""

    def __init__(self, scraped):
        self.pages = page_titles()
        self.commands = commands(read_json(scraped, "help.json")["command"])
        self.settings = {setting["variable"] for setting in read_json(scraped, "settings.json")["settings"]}

    def complaints(self, text):
        for words in re.findall(r"`entitle ([^`]*)`", text):
            if not self.has_command(words.split()):
                yield "there is no command `entitle %s`" % words
        for variable in set(re.findall(r"ENTITLE_[A-Z_]*[A-Z]", text)) - self.settings:
            yield "there is no setting %s" % variable

    def has_command(self, words):
        name = next(tuple(words[:count]) for count in range(len(words), -1, -1) if tuple(words[:count]) in self.commands)
        rest = {word[2:] if word.startswith("--") else None for word in words[len(name):]}
        return bool(name) and rest <= self.commands[name]

    def has_page(self, page):
        title, _, heading = page.partition(": ")
        return heading in self.pages.get(title, ())


class Tests:
    """What the tests of the rules expect: the labels of each alert that fires, and those that are silent."""

    def __init__(self, folder):
        self.fires, self.silent = {}, set()
        for path in glob.glob(os.path.join(folder, "*_test.yml")):
            with open(path, encoding="utf-8") as file:
                for test in yaml.safe_load(file)["tests"]:
                    self.take(test["name"].split(":")[0], test["promql_expr_test"])

    def take(self, alert, expectations):
        for expectation in expectations:
            samples = [dict(re.findall(r'(\w+)="([^"]*)"', sample["labels"]))
                       for sample in expectation.get("exp_samples", [])]
            if all(labels["alertname"] != alert for labels in samples):
                self.silent.add(alert)
            for labels in samples:
                self.fires.setdefault(labels["alertname"], labels)


def rule_complaints(rule, exposed, documentation, tests):
    alert, annotations = rule["alert"], rule["annotations"]
    if rule["labels"]["severity"] not in SEVERITIES:
        yield "its severity is none"
    if not all(annotations.get(name) for name in ("summary", "description")):
        yield "it says too little"
    if not documentation.has_page(annotations.get("page", "")):
        yield "there is no page %r" % annotations.get("page")
    if alert not in tests.fires or alert not in tests.silent:
        yield "no test sees it fire and be silent"
    text = " ".join(annotations.values())
    yield from documentation.complaints(text)
    for label in set(re.findall(r"\$labels\.(\w+)", text)) - set(tests.fires.get(alert, ())):
        yield "it has no label %s to show" % label
    yield from complaints_of(rule["expr"], exposed)


# Board


def queries(board):
    """Everything that a board asks: where, the expression, the labels that its legend shows."""
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            asked = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
            yield "variable " + variable["name"], asked[1], [asked[2]]
    for note in board["annotations"]["list"]:
        yield "annotation " + note["name"], note["expr"], legend(note["titleFormat"])
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield "panel " + panel["title"], target["expr"], legend(target["legendFormat"])


def legend(text):
    return re.findall(r"\{\{\s*(\w+)\s*\}\}", text)


def layout_complaints(board):
    variables = {variable["name"]: variable for variable in board["templating"]["list"]}
    if variables.get("datasource", {}).get("query") != "prometheus":
        yield "it has no variable for the data source"
    panels = board["panels"]
    if len({panel["id"] for panel in panels}) != len(panels):
        yield "two panels have one id"
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        if taken & cells or place["x"] + place["w"] > 24:
            yield "panel %s has no place of its own" % panel["title"]
        taken |= cells
        if panel["type"] != "row" and panel["datasource"]["uid"] != "${datasource}":
            yield "panel %s has a data source of its own" % panel["title"]


def replaced(expression):
    for name, value in GRAFANA.items():
        expression = expression.replace(name, value)
    return expression


def syntax_complaints(expressions):
    """What promtool says of expressions, taken as rules."""
    rules = [{"record": "board:%d" % number, "expr": expression} for number, expression in enumerate(expressions)]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        # YAML has JSON in it.
        json.dump({"groups": [{"name": "board", "rules": rules}]}, file)
        file.flush()
        done = subprocess.run(
            ["promtool", "check", "rules", file.name], capture_output=True, text=True, check=False)
    if done.returncode:
        yield re.sub(r"\s+", " ", done.stdout + done.stderr)


def main(scraped, folder):
    with open(os.path.join(folder, "rules.yml"), encoding="utf-8") as file:
        rules = [rule for group in yaml.safe_load(file)["groups"] for rule in group["rules"]]
    board = read_json(folder, "board.json")
    exposed = Exposed(scraped, {rule["alert"] for rule in rules})
    documentation, tests = Documentation(scraped), Tests(folder)
    said = []
    for rule in rules:
        said += ["alert %s: %s" % (rule["alert"], complaint)
                 for complaint in rule_complaints(rule, exposed, documentation, tests)]
    asked = [(where, replaced(expression), shown) for where, expression, shown in queries(board)]
    for where, expression, shown in asked:
        said += ["%s: %s" % (where, complaint) for complaint in complaints_of(expression, exposed, shown)]
    said += ["board: %s" % complaint for complaint in [
        *layout_complaints(board), *syntax_complaints(expression for _, expression, _ in asked)]]
    on_board = " ".join(expression for _, expression, _ in asked)
    said += ["board: %s is nowhere on it" % name for name in sorted(exposed.families) if name not in on_board]
    for line in said:
        print("FAILED " + line)
    print("%d alerts, %d questions of the board, %d metrics of the job %s" % (
        len(rules), len(asked), len(exposed.families), JOB))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
