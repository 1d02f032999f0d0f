"""The system's clock, stepped back and forth under a server: order holds, nothing is lost."""

import json
import os
import random

from harness.clock import Clock
from harness.ledgers import checked_audit, checked_replay
from harness.report import Fault
from harness.server import Server

# How far the log may be ahead of the clock, how far the clock may run ahead between two appends of a
# process (T3), in milliseconds, and what is too close to tell.
TOLERANCE = 300_000
HOUR = 3_600_000
MARGIN = 20_000
DAY = 24 * HOUR


def stepped(tool, source, clock, steps, environment):
    """Steps the clock before each grant; what was recorded, refused, and not as it had to be."""
    ledger = tool.make("clock")
    # What the last append was recorded by, and what the log's last event was.
    last, latest = 0, 0
    given, refused, wrong = [], {"clock_behind": 0, "clock_ahead": 0}, []
    with Server(tool, ledger, environment=environment) as server:
        for number in range(steps):
            offset = source.choice([
                latest, last + source.randrange(HOUR - MARGIN),
                last + HOUR + MARGIN + source.randrange(24 * HOUR),
                latest - source.randrange(TOLERANCE - MARGIN),
                latest - TOLERANCE - MARGIN - source.randrange(24 * HOUR)])
            clock.move(offset)
            expected = ("clock_behind" if latest - offset > TOLERANCE else
                        "clock_ahead" if offset - last > HOUR and given else None)
            customer = "stepped-%d" % number
            status, code = server.grant(customer, number)
            place = "the clock %d ms after the log, %d after the last append" % (
                offset - latest, offset - last)
            if status == 200:
                given.append(customer)
                last, latest = offset, max(latest, offset)
            elif status == 503 and code in refused:
                refused[code] += 1
            else:
                raise Fault("%s: %d %s" % (place, status, code))
            if code != expected:
                wrong.append("%s: %d %s" % (place, status, code))
            # Questions are answered whatever the clock says.
            status, _, answer = server.ask("GET", "/v1/customers/%s" % customer)
            if status != 200 or bool(answer["grants"]) != (customer in given[-1:]):
                raise Fault("%s: the state is %d %s" % (place, status, answer))
        clock.move(latest)
        if server.grant("last", steps) != (200, None):
            raise Fault("with the clock put right nothing is recorded")
        given.append("last")
        server.stop()
    return ledger, given, refused, wrong


def check_log(tool, ledger, given):
    """Everything acknowledged is there, once, and recorded time never goes back."""
    events = [json.loads(line) for line in tool.ask(ledger, "events", "--json").splitlines()]
    times = [event["recordedtime"] for event in events]
    if times != sorted(times):
        raise Fault("recorded time goes back")
    subjects = [event["subject"] for event in events if event["type"] == "grant.given"]
    if subjects != ["customer/" + customer for customer in given]:
        raise Fault("the log holds other grants than those that were acknowledged")
    checked_audit(tool, ledger)
    checked_replay(tool, ledger)


def check_commands(tool, clock):
    """Commands under a clock that went back: writing ends with 75, reading goes on."""
    ledger = tool.make("clock")
    tool.environment.update(clock.environment)
    try:
        clock.move(HOUR)
        tool.ask(ledger, "grant", "ann", "--tier", "pro")
        clock.move(0)
        for words in (["grant", "bob", "--tier", "pro"], ["trial", "bob", "week"]):
            done = tool.run(ledger, *words, "--json")
            if done.returncode != 75 or b"clock_behind" not in done.stderr:
                raise Fault("an hour behind %s ended with %d: %s" % (
                    words[0], done.returncode, done.stderr[-200:]))
        tool.ask(ledger, "show", "ann")
        clock.move(2 * HOUR)
        tool.ask(ledger, "grant", "bob", "--tier", "pro")
    finally:
        for name in clock.environment:
            del tool.environment[name]
    check_log(tool, ledger, ["ann", "bob"])
    return 2


def check_ahead(tool, clock):
    """A clock years ahead: not believed; where it was, the named way out leads on (T3)."""
    ledger = tool.make("clock")
    tool.environment.update(clock.environment)
    try:
        tool.ask(ledger, "grant", "ann", "--tier", "pro")
        # The control: within the days that nobody need vouch for, it is believed.
        clock.move(300 * DAY)
        tool.ask(ledger, "grant", "bob", "--tier", "pro")
        clock.move(3650 * DAY)
        refused = refusal(tool, ledger, "clock_ahead")
        date = refused["hint"].split("--accept-clock ")[1].split(";")[0]
        tool.ask(ledger, "grant", "eve", "--tier", "pro", "--accept-clock", date)
        clock.move(301 * DAY)
        refused = refusal(tool, ledger, "clock_behind")
        cut = refused["hint"].split("--until-sequence ")[1].split()[0]
        return way_out(tool, ledger, cut)
    finally:
        for name in clock.environment:
            del tool.environment[name]


def refusal(tool, ledger, code):
    done = tool.run(ledger, "grant", "dee", "--tier", "pro", "--json")
    if done.returncode != 75 or json.loads(done.stderr)["code"] != code:
        raise Fault("expected %s: %d %s" % (code, done.returncode, done.stderr[-300:]))
    return json.loads(done.stderr)


def way_out(tool, ledger, cut):
    """Goes on elsewhere as the error says; how many events came along."""
    backup, new = tool.directory("kept"), tool.directory("again")
    tool.ask(ledger, "backup", backup)
    tool.environment["ENTITLE_KEY_FILE"] = os.path.join(ledger, "key")
    try:
        tool.ask(new, "restore", backup, "--into", new, "--until-sequence", cut, "--continue",
                 "--origin", "ledger.example/again")
        tool.ask(new, "import", "--on-error", "skip", "-",
                 data=tool.ask(ledger, "events", "--json", "--from", cut))
        tool.ask(new, "grant", "dee", "--tier", "pro")
        checked_audit(tool, new)
        events = [json.loads(line) for line in tool.ask(new, "events", "--json").splitlines()]
        given = [event["subject"] for event in events if event["type"] == "grant.given"]
        if given != ["customer/" + name for name in ("ann", "bob", "eve", "dee")]:
            raise Fault("other grants came along: %s" % given)
        times = [event["recordedtime"] for event in events]
        if times != sorted(times) or ", checkpoint " not in events[int(cut)]["data"]["detail"]:
            raise Fault("the continued log does not name the old one, or goes back")
    finally:
        del tool.environment["ENTITLE_KEY_FILE"]
    return len(events)


def run(tool, report, seed, steps):
    clock = Clock(tool)
    ledger, given, refused, wrong = stepped(
        tool, random.Random("clock/%d" % seed), clock, steps, clock.environment)
    for text in wrong[:3]:
        report.fail("clock", text)
    check_log(tool, ledger, given)
    for code in refused:
        if not refused[code]:
            report.fail("clock", "no step met " + code)
    figures = {"steps": steps, "recorded": len(given), "refused": refused,
               "commandsRefused": check_commands(tool, clock),
               "wentOnElsewhere": check_ahead(tool, clock)}
    # The control: a clock that does not step is told from one that does.
    *_, wrong = stepped(tool, random.Random("clock/%d" % seed), clock, min(steps, 40), {})
    figures["controlFound"] = len(wrong)
    if not wrong:
        report.fail("clock control", "a clock that stands still was not found")
    report.figures["clock"] = figures
