"""The parts that try the command and its server from outside."""

import argparse
import tempfile

import lines
import over_http
from decoders import FINDINGS
from harness.command import Tool, binary
from harness.material import Material
from harness.report import Report
from harness.server import raise_file_limit

QUICK_SECONDS = 30
QUICK_LINES = 5_000


def parsed():
    parser = argparse.ArgumentParser(prog="tools/fuzz")
    parser.add_argument("part", choices=["http", "lines"])
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument(
        "--seconds", type=float, default=0, help="of requests, at most; default: no limit")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def run():
    options = parsed()
    raise_file_limit()
    scratch = tempfile.mkdtemp(prefix="entitle-fuzz-")
    report, tool = Report(), Tool(binary(), scratch)

    def requests():
        wanted = 0 if options.quick else options.requests
        seconds = QUICK_SECONDS if options.quick else options.seconds
        over_http.run(Material(tool), report, options.seed, wanted, seconds, FINDINGS)

    def inputs():
        count = QUICK_LINES if options.quick else options.lines
        lines.run(tool, report, options.seed, count, FINDINGS)

    report.guard(options.part, requests if options.part == "http" else inputs)
    return report.end(scratch, seed=options.seed, seconds=report.seconds())
