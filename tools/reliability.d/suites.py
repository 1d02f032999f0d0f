"""Swift suites that take a count: random histories against the slow model, and simulations."""

import os
import re
import shutil
import subprocess
import time

from harness.report import Fault, Missing, say

# What one process is asked for: a long run says how far it is, and a failure names its seed.
PIECE = 20_000
# An optimized build of everything below the server, with its tests.
OPTIMIZED = ["-c", "release", "-Xswiftc", "-enable-testing", "--scratch-path", ".build-optimized"]
CORE = {"ENTITLE_CORE": "1"}


def build(root):
    """What many schedules are played with: it takes minutes to build, and saves hours."""
    say("suites: building optimized tests")
    done = subprocess.run(
        ["swift", "build", "--build-tests", *OPTIMIZED], cwd=root, text=True,
        env={**os.environ, **CORE}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Fault("the tests do not build: %s" % done.stdout[-1500:])


def run_suite(root, name, words, environment):
    """Runs the suites of a name, which are built; how many tests passed."""
    done = subprocess.run(
        ["swift", "test", "--skip-build", "--filter", name, *words], cwd=root, text=True,
        env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ran = re.search(r"Test run with (\d+) tests? in", done.stdout)
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "✘" in line or "error:" in line]
        raise Fault("%s: %s" % (name, " | ".join(lines or done.stdout.splitlines()[-3:])[:1500]))
    return int(ran[1]) if ran else 0


def run(root, report, seed, key, suite, variable, count, is_optimized):
    """So many of what a suite counts, a piece at a time; the suite's own control runs along."""
    if not shutil.which("swift"):
        raise Missing("there is no Swift toolchain")
    words, environment = (OPTIMIZED, CORE) if is_optimized else ([], {})
    if is_optimized:
        build(root)
    # Seeds of different runs lie apart.
    first, left, tests = seed << 32, count, 0
    begin = time.monotonic()
    while left > 0:
        piece = min(left, PIECE)
        tests = run_suite(root, suite, words, {
            **environment, variable: str(piece), "ENTITLE_SEED": str(first)})
        if tests == 0:
            raise Fault("there is no suite %s" % suite)
        first, left = first + piece, left - piece
        say("%s: %d of %d" % (key, count - left, count))
    report.figures[key] = {
        "count": count, "firstSeed": seed << 32, "tests": tests, "isOptimized": is_optimized,
        "seconds": round(time.monotonic() - begin, 1)}
