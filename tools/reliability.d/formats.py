"""Ledgers as programs of older formats closed them."""

import json
import os
import shutil
import subprocess

from harness.ledgers import checked_audit
from harness.report import Fault

# What a program of format 1 wrote: no new streams in the log, no identifiers in the vault.
FIRST = {
    "log": ["bundles", "tail", "companions", "shared", "tiles", "checkpoints", "end"],
    "vault": ["streams", "names"],
}


def said(ledger):
    """The format that a ledger says it has."""
    with open(os.path.join(ledger, "ledger.json"), encoding="utf-8") as file:
        return json.load(file)["format"]


def make_first(tool, copier, ledger):
    """Makes of a ledger that nobody has open one of format 1. `copier`: what older.c became."""
    for folder, tables in FIRST.items():
        path = os.path.join(ledger, folder)
        older = path + ".older"
        os.mkdir(older)
        done = subprocess.run(
            [copier, path, older, *tables], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Fault("no tables of format 1: %s" % done.stderr.strip())
        os.rename(os.path.join(older, "data.mdb"), os.path.join(path, "data.mdb"))
        os.remove(os.path.join(path, "lock.mdb"))
        shutil.rmtree(older)
    manifest = os.path.join(ledger, "ledger.json")
    with open(manifest, encoding="utf-8") as file:
        text = json.load(file)
    with open(manifest, "w", encoding="utf-8") as file:
        json.dump({**text, "format": 1}, file)
    checked_audit(tool, ledger)
    if said(ledger) != 1:
        raise Fault("a ledger of format 1 does not stay one while it is read")
