"""The decoders, by libFuzzer: the targets of Tests/Fuzz, built apart from everything else."""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from harness.start import ROOT

SCRATCH = os.path.join(ROOT, ".build-fuzz")
FINDINGS = os.path.join(SCRATCH, "findings")
TARGETS = ("jws", "payload", "answer", "products", "revenuecat", "play", "token", "json", "event", "catalog", "record",
           "question", "pages", "request", "argument")
# What a run may take: no input of this length needs more.
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=512"]
MAX_LENGTH = 32768
# A data file has some pages before it has a record.
MAX_LENGTHS = {"pages": 131072}
QUICK_SEED = 20261121
QUICK_SECONDS = 8
CONTROL_SECONDS = 480
PLANTED = "planted fault"
# libFuzzer's exit code for an input that stopped the process.
FOUND = 77


def build():
    started = time.monotonic()
    words = ["swift", "build", "-c", "release", "--product", "fuzz", "--scratch-path", SCRATCH]
    done = subprocess.run(
        words, cwd=ROOT, env={**os.environ, "ENTITLE_FUZZ": "1"}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(done.stdout[-4000:] + "\nfuzz: the targets do not build")
    print("built in %d s" % (time.monotonic() - started), flush=True)


class Target:
    def __init__(self, name, folder, kept):
        self.name = name
        self.environment = {
            **os.environ, "FUZZ_TARGET": name,
            "FUZZ_AUTHORITY": os.path.join(folder, "authority.pem"),
            # One seed, one run; and the input's own stack instead of a backtrace of it.
            "SWIFT_DETERMINISTIC_HASHING": "1", "SWIFT_BACKTRACE": "enable=no",
        }
        self.seeds = os.path.join(folder, name)
        self.learnt = os.path.join(kept, name) if kept else None
        os.makedirs(self.seeds)
        if self.learnt:
            os.makedirs(self.learnt, exist_ok=True)
        subprocess.run([self.binary(), "--write-seeds", self.seeds],
                       env=self.environment, check=True)

    @staticmethod
    def binary():
        return os.path.join(SCRATCH, "release", "fuzz")

    def run(self, seed, seconds, planted=False):
        """Runs until the time is over or something is found."""
        prefix = os.path.join(FINDINGS, "%s-%s" % (self.name, "planted-" if planted else ""))
        environment = dict(self.environment)
        if planted:
            environment["FUZZ_PLANTED_FAULT"] = "1"
        folders = ([self.learnt] if self.learnt and not planted else []) + [self.seeds]
        if folders == [self.seeds]:
            folders = [tempfile.mkdtemp(dir=os.path.dirname(self.seeds)), self.seeds]
        done = subprocess.run(
            [self.binary(), *LIMITS, "-max_len=%d" % MAX_LENGTHS.get(self.name, MAX_LENGTH),
             "-keep_seed=1", "-mutate_depth=2", "-seed=%d" % seed,
             "-max_total_time=%d" % seconds, "-print_final_stats=1", "-artifact_prefix=" + prefix, *folders],
            env=environment, text=True, errors="replace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return Outcome(done.returncode, done.stdout)

    def repeats(self, file, planted):
        """Whether one input stops the process, with the planted fault or without it."""
        environment = dict(self.environment)
        if planted:
            environment["FUZZ_PLANTED_FAULT"] = "1"
        done = subprocess.run([self.binary(), *LIMITS, file], env=environment, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode != 0


class Outcome:
    def __init__(self, status, log):
        self.status = status
        self.log = log
        counts = re.findall(r"stat::number_of_executed_units:\s+(\d+)", log)
        counts = counts or re.findall(r"^#(\d+)\s", log, re.MULTILINE)
        self.executions = int(counts[-1]) if counts else 0
        edges = re.findall(r" cov: (\d+) ", log)
        self.edges = int(edges[-1]) if edges else 0
        files = re.findall(r"Test unit written to (\S+)", log)
        self.file = files[-1] if files else None

    @property
    def reason(self):
        """What libFuzzer or the law that does not hold says."""
        lines = re.findall(r"^.*(?:Fatal error|ERROR: libFuzzer|SUMMARY).*$", self.log, re.MULTILINE)
        return "; ".join(lines[:3]) or self.log[-1000:]


def search(target, seed, seconds):
    """The run proper; a failure's text or None."""
    outcome = target.run(seed, seconds)
    print("%-10s  %9d executions  %6d edges  %s" % (
        target.name, outcome.executions, outcome.edges,
        "nothing found" if outcome.status == 0 else "FOUND " + str(outcome.file)), flush=True)
    if outcome.status:
        return "%s: %s" % (target.name, outcome.reason)
    return None if outcome.executions else target.name + ": nothing was executed"


def control(target, seed, seconds):
    """The planted fault must be found, be what is found, and be gone without being planted."""
    outcome = target.run(seed, seconds, planted=True)
    if outcome.status != FOUND or PLANTED not in outcome.log or not outcome.file:
        return "%s: the planted fault was not found in %d executions: %s" % (
            target.name, outcome.executions, outcome.reason if outcome.status else "")
    if not target.repeats(outcome.file, True) or target.repeats(outcome.file, False):
        return target.name + ": the input of the planted fault does not show it"
    os.remove(outcome.file)
    print("%-10s  planted fault found after %d executions" % (target.name, outcome.executions),
          flush=True)
    return None


def parsed():
    parser = argparse.ArgumentParser(
        prog="fuzz", description="Tries what reads from outside with inputs that nobody expects.")
    parser.add_argument("part", nargs="?", choices=["decoders"])
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true", help="seconds for each target")
    size.add_argument("--long", type=float, metavar="MINUTES", help="for all targets together")
    size.add_argument("--build", action="store_true", help="only build the targets")
    parser.add_argument("--only", default=",".join(TARGETS), help="targets, with commas")
    parser.add_argument("--seed", type=int, help="default: fixed if quick, else of the clock")
    parser.add_argument("--corpus", default=os.path.join(SCRATCH, "corpus"),
                        help="where --long keeps what it learnt")
    options = parser.parse_args()
    options.only = options.only.split(",")
    if not set(options.only) <= set(TARGETS):
        parser.error("the targets are " + ", ".join(TARGETS))
    if options.seed is None:
        # 0 means "of the clock" to libFuzzer.
        options.seed = int(time.time()) % 1_000_000 + 1 if options.long else QUICK_SEED
    return options


def run():
    """Builds the targets, searches with each, then plants the fault in each."""
    options = parsed()
    cores, names, seed = os.cpu_count() or 1, options.only, options.seed
    seconds = QUICK_SECONDS
    if options.long:
        seconds = int(options.long * 60 * cores / len(names)) + 1
    build()
    if options.build:
        return 0
    print("seed %d, %d s for each target" % (seed, seconds), flush=True)
    os.makedirs(FINDINGS, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="entitle-fuzz-")
    try:
        kept = None if options.quick else os.path.abspath(options.corpus)
        targets = [Target(name, folder, kept) for name in names]
        with concurrent.futures.ThreadPoolExecutor(cores) as pool:
            works = [pool.submit(search, target, seed, seconds) for target in targets]
            works += [pool.submit(control, target, seed, CONTROL_SECONDS) for target in targets]
            failures = [failure for failure in (work.result() for work in works) if failure]
    finally:
        shutil.rmtree(folder)
    for failure in failures:
        print("FAILED " + failure)
    print("fuzz: %d targets, %d failed" % (len(names), len(failures)))
    return 1 if failures else 0
