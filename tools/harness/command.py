"""The command: run, asked, with an import that acknowledges."""

import json
import os
import shutil
import subprocess
import sys

from harness.history import CATALOG
from harness.report import Fault
from harness.start import ROOT

TIMEOUT = 120


def binary():
    """The command: $ENTITLE_BIN, else the debug build's, which is made if it is missing."""
    given = os.environ.get("ENTITLE_BIN")
    if given:
        return os.path.abspath(given)
    path = os.path.join(ROOT, ".build", "debug", "entitle")
    if not os.path.exists(path):
        subprocess.run(
            ["swift", "build", "--product", "entitle"], cwd=ROOT, stdout=sys.stderr, check=True)
    return path


class Tool:
    """Runs the command, in a scratch folder and without the settings of who runs the tool."""

    def __init__(self, binary, scratch):
        self.binary = binary
        self.scratch = scratch
        self.count = 0
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("ENTITLE_")}
        self.environment["SWIFT_BACKTRACE"] = "enable=no"

    def directory(self, name):
        """A path in the scratch folder where nothing stands."""
        self.count += 1
        path = os.path.join(self.scratch, "%s-%d" % (name, self.count))
        shutil.rmtree(path, ignore_errors=True)
        return path

    def arguments(self, ledger, *words):
        return [self.binary, *words, "--ledger", ledger]

    def run_plain(self, *words, data=None, prefix=(), environment=None, timeout=TIMEOUT):
        """Runs a subcommand that has no ledger; `prefix` is what starts it in turn."""
        try:
            return subprocess.run(
                [*prefix, self.binary, *words], input=data, capture_output=True,
                env={**self.environment, **(environment or {})}, timeout=timeout,
                cwd=self.scratch, stdin=subprocess.DEVNULL if data is None else None, check=False)
        except subprocess.TimeoutExpired as error:
            raise Fault("%s does not end" % words[0]) from error

    def run(self, ledger, *words, **more):
        return self.run_plain(*words, "--ledger", ledger, **more)

    def ask_plain(self, *words, **more):
        """The standard output of a subcommand without a ledger that has to succeed."""
        done = self.run_plain(*words, **more)
        if done.returncode != 0:
            raise Fault("%s ended with %d: %s" % (
                words[0], done.returncode, (done.stderr or done.stdout)[-300:].decode(
                    errors="replace").strip()))
        return done.stdout

    def ask(self, ledger, *words, **more):
        """The standard output of a command that has to succeed."""
        return self.ask_plain(*words, "--ledger", ledger, **more)

    def ask_json(self, ledger, *words):
        return json.loads(self.ask(ledger, *words, "--json"))

    def catalog(self):
        """The path of the catalog that ledgers are made with."""
        path = os.path.join(self.scratch, "catalog.json")
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(CATALOG, file)
        return path

    def make(self, name="ledger"):
        """A new ledger with a catalog."""
        ledger = self.directory(name)
        self.ask(ledger, "init", "--catalog", self.catalog())
        return ledger

    def key(self, ledger, scope="admin"):
        """The text of a new key of a server."""
        return self.ask_json(ledger, "keys", "create", "--scope", scope)["key"]

    def start_import(self, ledger, prefix=(), extra_environment=None):
        """An import that acknowledges; unbuffered pipes."""
        return subprocess.Popen(
            [*prefix, *self.arguments(
                ledger, "import", "--format", "events", "--acknowledge", "-")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            env={**self.environment, **(extra_environment or {})}, cwd=self.scratch)
