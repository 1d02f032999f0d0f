"""What differs between two folders of answers."""

import difflib
import os
import shutil

from harness.report import Fault

LINES = 12
WIDTH = 400


def names(folder):
    return {name for name in os.listdir(folder) if name.endswith(".txt")}


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def compare(base, folder, only=""):
    """A text for each answer that is not the same in both; with `only`, missing ones do not count."""
    ours, theirs = names(folder), names(base)
    texts = ["+ %s: not in the base" % name for name in sorted(ours - theirs)]
    if not only:
        texts += ["- %s: not asked any more" % name for name in sorted(theirs - ours)]
    for name in sorted(ours & theirs):
        before, after = read(base, name), read(folder, name)
        if before != after:
            texts.append(difference(name, before, after))
    return texts


def difference(name, before, after):
    """The first byte that differs, and the lines around it."""
    at = next((index for index, (a, b) in enumerate(zip(before, after)) if a != b),
              min(len(before), len(after)))
    lines = list(difflib.unified_diff(
        before.decode(errors="replace").splitlines(), after.decode(errors="replace").splitlines(),
        "base", "now", n=1, lineterm=""))
    shown = []
    column = at - (before.rfind(b"\n", 0, at) + 1)
    start = max(0, column - WIDTH // 2)
    for line in lines[2:2 + LINES]:
        shown.append(line if len(line) <= WIDTH else line[0] + "…" + line[1 + start:start + WIDTH] + "…")
    more = len(lines) - 2 - LINES
    return "! %s: byte %d\n%s%s" % (
        name, at, "\n".join("    " + line for line in shown), "\n    … %d more" % more if more > 0 else "")


def planted(folder):
    """One byte is changed in a copy of the first and the last answer: both are found, nothing else."""
    copy = folder + ".planted"
    shutil.copytree(folder, copy)
    try:
        chosen = sorted(names(folder))
        for name in {chosen[0], chosen[-1]}:
            data = bytearray(read(folder, name))
            data[len(data) // 2] ^= 1
            with open(os.path.join(copy, name), "wb") as file:
                file.write(data)
        found = compare(folder, copy)
        if len(found) != len({chosen[0], chosen[-1]}):
            raise Fault("control: %d of 2 changed answers were found" % len(found))
    finally:
        shutil.rmtree(copy)
