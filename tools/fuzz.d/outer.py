"""The parts of `tools/fuzz` that try the command and its server from outside."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "tools", name) for name in ("server.d", "reliability.d")]

import lines  # noqa: E402
import over_http  # noqa: E402
from harness import Fault, Report, Tool, binary, say  # noqa: E402
from serving import Material, raise_file_limit  # noqa: E402

QUICK_SECONDS = 30
QUICK_LINES = 5_000


def main():
    parser = argparse.ArgumentParser(prog="tools/fuzz")
    parser.add_argument("part", choices=["http", "lines"])
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=0, help="at most; default: no limit")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    raise_file_limit()
    scratch = tempfile.mkdtemp(prefix="entitle-fuzz-")
    findings = os.path.join(ROOT, ".build-fuzz", "findings")
    report, tool = Report(), Tool(binary(ROOT), scratch)
    begin = time.monotonic()
    try:
        material = Material(tool)
        if options.part == "http":
            wanted = 0 if options.quick else options.requests
            seconds = QUICK_SECONDS if options.quick else options.seconds
            over_http.run(material, report, options.seed, wanted, seconds, findings)
        else:
            count = QUICK_LINES if options.quick else options.lines
            lines.run(tool, report, options.seed, count, options.seconds, findings)
    except (Fault, OSError, ValueError, subprocess.SubprocessError) as fault:
        report.fail(options.part, "%s: %s" % (type(fault).__name__, fault))
    if report.failures:
        say("what failed is kept in %s" % scratch)
    else:
        shutil.rmtree(scratch)
    print(json.dumps({
        "ok": not report.failures, "seed": options.seed,
        "seconds": round(time.monotonic() - begin, 1), **report.figures,
        "failures": report.failures}, indent=2))
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
