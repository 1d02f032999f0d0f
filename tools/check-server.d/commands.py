"""Commands that ask a server: by its socket where it holds the ledger, by its address elsewhere. What they say is what
they say by themselves, byte for byte, and what they record too; how a server is reached is in `reached`."""

import base64
import contextlib
import json
import os
import re
import shlex
import shutil
import time

import reached
from harness.app_store import AppStore
from harness.clock import clock_library
from harness.command import Tool
from harness.ledgers import checked_audit, copy_ledger
from harness.report import Fault, in_parallel
from harness.server import Server
from questions import ADMIN_QUESTIONS, AUDITS, QUESTIONS

# One instant for all commands and servers, so that nothing of time has to be masked.
NOON = 1_780_315_200_000
FORMATS = {"j": ["--json"], "t": []}
CATALOG = {
    "tiers": ["free", "plus", "pro"],
    "features": [
        {"id": "open", "level": "free"}, {"id": "sync", "level": "plus"}, {"id": "export", "level": "pro"},
        {"id": "count", "level": "free", "limits": {"free": {
            "perUse": {"amount": 30, "unit": "seconds"}, "perPeriod": {"count": 2, "period": "day"}}}}],
    "products": [{"id": "month", "kind": "auto_renewable", "unlocks": {"tier": "plus"}}],
    "trials": [{"id": "week", "days": 7, "tier": "pro"}],
}
# Of which some lose, others gain.
OTHER_CATALOG = {**CATALOG, "features": [
    {"id": "open", "level": "free"}, {"id": "sync", "level": "pro"}, {"id": "export", "level": "plus"}]}
# What a catalog may not hold, in two places.
BAD_CATALOG = {**CATALOG, "trials": [{"id": "week", "days": 7, "tier": "gold"}], "unknown": 1}
# Events that all ledgers begin with: what is known of them is the same bytes.
BASE = 9
# Exit codes and words; "{}" is of the format, so that each is recorded in JSON and in text.
STEPS = (
    (0, "grant both{} --grant-id g --id U{} --tier plus"),
    (0, "grant alice{} --grant-id g --id a{} --tier pro --until 2040-01-01 --reason 'an apology'"),
    (0, "grant alice{} --grant-id g --id a{} --tier pro --until 2040-01-01 --reason 'an apology'"),
    (4, "grant alice{} --grant-id g --id a{} --tier plus"),
    (0, "grant bob{} --grant-id h --id b{} --feature export --feature sync -e sandbox"),
    (64, "grant bob{} --grant-id h --id c{}"),
    (0, "grant 'a b/ü?&%2F#{}' --grant-id 'g/ %' --id 'd \"{}\"' --tier plus"),
    (0, "withdraw 'a b/ü?&%2F#{}' 'g/ %' --id e{}"),
    (0, "withdraw alice{} g --id f{}"),
    (4, "withdraw alice{} none --id g{}"),
    (0, "trial bob{} week --id h{}"),
    (4, "trial bob{} week --id i{}"),
    (4, "trial bob{} month --id j{}"),
    (0, "link alice{} phone{} --id k{}"),
    (0, "link alice{} alice{} --id l{}"),
    (0, "use carol{} count --amount 20 --unit seconds --id m{}"),
    (0, "use carol{} count --amount 20 --unit seconds --id m{}"),
    (4, "use carol{} count --amount 10 --unit seconds --id m{}"),
    (0, "use carol{} count --id n{}"),
    (1, "use carol{} count --id o{}"),
    (0, "use carol{} --undo n{} --id p{}"),
    (4, "use carol{} --undo none --id q{}"),
    (1, "use carol{} export --id r{}"),
    (64, "use carol{} unlisted --id s{}"),
    (1, "use dora{} count --amount 31 --unit seconds --id t{}"),
    (0, "catalog publish {catalog} --effective 2026-05-0{number} --id u{}"),
    (66, "catalog publish absent.json --id v{}"),
    (0, "grant gone{} --grant-id g --id w{} --tier plus"),
    (64, "erase gone{} --confirm alice{} --id x{}"),
    (0, "erase gone{} --confirm gone{} --id x{}"),
    (0, "erase gone{} --confirm gone{} --id y{}"),
    (0, "erase both{} --dry-run"),
    (0, "erase --customers {customers} --dry-run"),
    (64, "erase --customers {customers} --confirm 3 --id z{}"),
    (0, "erase --customers {customers} --confirm 2 --id z{}"),
    (0, "erase --customers {customers} --confirm 2 --id Z{}"),
    (0, "import {lines} --format events"),
    (0, "import {lines}"),
    (65, "import {broken}"),
    (0, "import {broken} --on-error skip"),
    (0, "import {broken} --on-error skip --acknowledge"),
    (0, "import {webhooks} --on-error skip"),
    (0, "import {array} --on-error skip"),
    (65, "import {lines} {broken} --format app-store"),
    (66, "import absent.ndjson"),
    (64, "import {lines} --format none"),
    (0, "checkpoint"),
    (0, "rebuild"),
    (0, "verify"),
    (0, "verify --record"),
)
# Of these a server notes who looked or changed, where a key says who asks: what comes behind may stand elsewhere.
NOTED = (
    (0, "transfer app_store/p{} --to erin{} --reason 'ticket 12' --id A{}"),
    (0, "transfer app_store/p{} --to erin{} --reason 'ticket 12' --id A{}"),
    (0, "transfer app_store/p{} --to erin{} --reason 'ticket 12' --id B{}"),
    (4, "transfer app_store/none --to erin{} --reason 'ticket 12' --id C{}"),
    (0, "release app_store/p{} --reason 'ticket 13' --id D{}"),
    (0, "release app_store/p{} --reason 'ticket 13' --id E{}"),
    (4, "release app_store/none --reason 'ticket 13' --id F{}"),
    (0, "claim hana{} app_store/n{} --id G{}"),
    (0, "claim hana{} app_store/n{} --id G{}"),
    (0, "claim hana{} app_store/p{} --id H{}"),
    (64, "claim hana{} nothing --id I{}"),
    (0, "explain frank{} sync --reason 'größer 日本' --at 2025-06-01 --known-sequence 9"),
    (0, "timeline frank{} --reason asked --at 2025-06-01 --known-sequence 9"),
)
# What is seldom said. Where one way refused what another records, the numbers of all later events would go apart: they
# are not compared here.
SELDOM = (
    (65, "catalog publish {bad} --id K{}"),
    (0, "explain alice{} sync --reason 'two\nlines' --at 2025-06-01 --known-sequence 9"),
    (64, "explain alice{} unlisted --reason asked --at 2025-06-01"),
)
# What is only tried: a server notes that a key looked, and takes numbers of streams that a refused one did not use.
TRIED = (
    (0, "grant tried{} --grant-id g --id L{} --feature sync --until 2040-01-01 --dry-run"),
    (4, "withdraw alice{} none --id M{} --dry-run"),
    (0, "trial tried{} week --id N{} --dry-run"),
    (4, "trial tried{} month --id N{} --dry-run"),
    (0, "link tried{} phone{} --id O{} --dry-run"),
    (0, "use dora{} count --id P{} --dry-run"),
    (1, "use dora{} export --id P{} --dry-run"),
    (0, "transfer app_store/p{} --to tried{} --reason 'ticket 12' --id Q{} --dry-run"),
    (0, "release app_store/p{} --reason 'ticket 13' --id R{} --dry-run"),
    (4, "release app_store/none --reason 'ticket 13' --id R{} --dry-run"),
    (0, "claim tried{} app_store/m{} --id S{} --dry-run"),
    (4, "claim tried{} app_store/n{} --id S{} --dry-run"),
    (0, "catalog publish {catalog} --effective 2026-06-01 --id T{} --dry-run"),
)
# The commands that keys of scope write may not ask for.
OF_ADMINS = (
    "import", "claim", "checkpoint", "rebuild", "verify", "catalog", "erase", "transfer", "release", "explain",
    "timeline")
# What no two ledgers have in common: of a receipt the log's root and what is signed of it, as each seal is of chance.
SEALED = re.compile(rb"(?:(?<![A-Za-z0-9+/])|(?<=\\n))[A-Za-z0-9+/]{43}=|(?<=/log )[A-Za-z0-9+/]{91}=")
NUMBER = re.compile(rb'(?<="sequence":)"?\d+"?|(?<="size":)\d+|(?<=\(event )\d+(?=\))|(?<=\(sequence )\d+(?=\))|(?m:(?<=  )\d+$)')
DISK = re.compile(rb'"disk":\{[^}]*\}|(?m:^disk: .*\n)')


def outcome(done):
    """What a command that ended left: exit code, standard output and standard error."""
    return done.returncode, done.stdout, done.stderr


def without_figures(found):
    return re.sub(rb"[0-9.]+", b"", found[0])


def masked(found, pattern, by=b"*"):
    code, *texts = found
    return code, *(pattern.sub(by, text) for text in texts)


def difference(found, wanted):
    """Where two outcomes part; nothing where they do not."""
    for name, one, other in zip(("exit code", "output", "errors"), found, wanted, strict=True):
        if one == other:
            continue
        if isinstance(one, int):
            return "%s %d instead of %d: %s" % (
                name, one, other, found[2][-300:].decode(errors="replace").strip())
        place = len(os.path.commonprefix([one, other]))
        return "%s at byte %d: %s instead of %s" % (
            name, place, one[max(0, place - 40):place + 80], other[max(0, place - 40):place + 80])
    return None


def check_control(found):
    """A changed byte of an output, a changed exit code and a line more of errors are found; what is the same is not."""
    code, output, errors = found
    middle = len(output) // 2
    changed = output[:middle] + bytes([output[middle] ^ 1]) + output[middle + 1:]
    if difference(found, (code, bytes(output), errors)):
        raise Fault("what is the same is told apart")
    for other in ((code, changed, errors), (code + 1, output, errors), (code, output, errors + b"\n")):
        if not difference(other, found) or not difference(found, other):
            raise Fault("a changed outcome is not found")


class Way:
    """A ledger, and how commands come to it."""

    def __init__(self, tool, name, ledger, files, server=None, keys=None):
        self.tool = tool
        self.name = name
        self.ledger = ledger
        self.files = files
        self.server = server
        self.keys = keys

    def words(self, text, mark):
        """A command's words in a format."""
        number = 1 + list(FORMATS).index(mark)
        for name, value in {"": mark, "number": str(number), **self.files}.items():
            text = text.replace("{%s}" % name, value)
        return [*shlex.split(text), *FORMATS[mark]]

    def place(self, words):
        """Where a command is done: in the ledger's directory, or at a server's address."""
        if not self.keys:
            return ["--ledger", self.ledger]
        key = self.keys["admin" if words[0] in OF_ADMINS or "--dry-run" in words else "write"]
        return ["--server", self.server.url, "--token-file", key]

    def outcomes(self, steps):
        """What becomes of steps, one after the other, each in both formats."""
        return [
            outcome(self.tool.run_plain(*words, *self.place(words)))
            for _, text in steps for words in (self.words(text, mark) for mark in FORMATS)]

    def events(self):
        """The log, without the ids of accesses, which are of chance."""
        events = [json.loads(line) for line in self.tool.ask(self.ledger, "events", "--json").splitlines()]
        for event in events:
            if event["type"] == "access.logged":
                # A server says by which of its calls.
                event["id"] = event["data"]["action"] = None
        return events


class Comparison:
    """Ways that the same steps are done in, and what differed."""

    def __init__(self, report, ways):
        self.report = report
        self.ways = ways
        self.count = 0

    def tell(self, what, found):
        self.report.fail("commands", "%s: %s" % (what, found))

    def play(self, steps, mask=lambda way, found: found):
        """Does steps in all ways at once, and compares what became of them; the outcomes of the first way."""
        all_found = in_parallel(lambda way: way.outcomes(steps), self.ways, len(self.ways))
        first, others = all_found[0], list(zip(self.ways, all_found, strict=True))[1:]
        for number, (code, text) in enumerate(steps):
            differences = []
            for place, name in enumerate(("JSON", "text"), number * len(FORMATS)):
                wanted = first[place]
                if wanted[0] != code:
                    differences.append("%s alone: exit %d instead of %d: %s" % (
                        name, wanted[0], code, wanted[2][-200:].decode(errors="replace")))
                for way, found in others:
                    self.count += 1
                    if told := difference(mask(way, found[place]), mask(way, wanted)):
                        differences.append("%s %s: %s" % (name, way.name, told))
            if differences:
                self.tell(text, "%s (%d of %d)" % (differences[0], len(differences), len(FORMATS) * len(others)))
        return first

    def compare_logs(self):
        """What was recorded, event by event; of a server's keys also accesses, which others do not leave."""
        alone, held, elsewhere = self.ways
        # Accesses are recorded a moment after the answer.
        deadline = time.monotonic() + 10
        while len(held.events()) < len(alone.events()) and time.monotonic() < deadline:
            time.sleep(0.2)

        def changes(way):
            return [{**event, "sequence": None} for event in way.events() if event["type"] != "access.logged"]

        for way, one, other in ((held, alone.events(), held.events()), (elsewhere, changes(alone), changes(elsewhere))):
            for wanted, found in zip(one, other, strict=False):
                if wanted != found:
                    self.tell("the log, " + way.name, "%s instead of %s" % (
                        json.dumps(found, ensure_ascii=False)[:300], json.dumps(wanted, ensure_ascii=False)[:300]))
                    break
            else:
                if len(one) != len(other):
                    self.tell("the log, " + way.name, "%d events instead of %d" % (len(other), len(one)))


def check_steps(comparison):
    """Commands that record say the same in each way, refused ones too, and record the same."""
    found = comparison.play(STEPS, lambda way, one: masked(one, SEALED))
    check_control(found[0])
    # By the socket nobody is noted but for a reason, and so the numbers are those of a command by itself.
    comparison.play(NOTED, lambda way, one: masked(one, NUMBER) if way.keys else one)
    comparison.compare_logs()
    comparison.play(TRIED, lambda way, one: masked(one, NUMBER))
    comparison.play(SELDOM, lambda way, one: masked(one, NUMBER))
    return comparison.count


def check_questions(comparison, questions, key, at_once=2):
    """Questions are answered alike in the directory and by its server, and nobody is noted for them."""
    tool, way = comparison.ways[1].tool, comparison.ways[1]
    elsewhere = ["--server", way.server.url, "--token-file", key]
    size = len(way.events())

    def ask(question):
        words = way.words(*question)
        return [outcome(tool.run_plain(*words, *place)) for place in (["--ledger", way.ledger], elsewhere)]

    asked = [(text, mark) for _, text in questions for mark in FORMATS]
    codes = [code for code, _ in questions for _ in FORMATS]
    for (text, mark), code, (here, there) in zip(
            asked, codes, in_parallel(ask, asked, at_once), strict=True):
        what = "%s %s" % (text, *FORMATS[mark]) if FORMATS[mark] else text
        if here[0] != code:
            comparison.tell(what, "exit %d instead of %d" % (here[0], code))
        if told := difference(there, here):
            comparison.tell(what + ", elsewhere", told)
    for mark in FORMATS:
        check_status(comparison, lambda place: outcome(tool.run_plain(*way.words("status", mark), *place)), elsewhere)
    if len(way.events()) != size:
        comparison.tell("questions", "%d events were recorded for them" % (len(way.events()) - size))
    return len(asked) + len(FORMATS)


def keep_tokens(tool, ledger, files):
    """Decision tokens under names of files: of each answer, of nobody, of another answer, and of a log that is
    longer, or has other events."""
    def token(*words):
        return json.loads(tool.ask(ledger, *words, "--at", "2025-06-01", "--json"))["token"]

    files.update(
        state=token("show", "frankj"), access=token("can", "frankj", "sync"), timeline=token("timeline", "frankj"),
        nameless=token("show", "nobody"))
    files["tokens"] = os.path.join(tool.scratch, "tokens.txt")
    with open(files["tokens"], "w", encoding="utf-8") as file:
        file.write("%s\n\n{\"token\":\"%s\",\"customer\":\"frankj\"}\nnone\n" % (files["state"], files["access"]))
    # The last bytes are the digest's; size and root stand behind layout, answer, environment, marks, rules and T.
    bytes_of = bytearray(base64.urlsafe_b64decode(files["state"] + "=="))
    for name, place in (("differing", -1), ("longer", 6 + 8 + 4), ("forked", 6 + 8 + 8)):
        changed = bytearray(bytes_of)
        changed[place] ^= 1
        files[name] = base64.urlsafe_b64encode(changed).decode().rstrip("=")


def check_consumption(tool, comparison, scratch):
    """What is told to a store is told by a server as by a command, and refused alike."""
    store = AppStore(tool, scratch)
    with store.served(store.transaction()) as api:
        ledger = tool.directory("telling")
        tool.ask(ledger, "init")
        key = os.path.join(scratch, "telling.txt")
        with open(key, "w", encoding="utf-8") as file:
            file.write(tool.key(ledger, "support") + "\n")
        with Server(tool, ledger, "", ["--stores", api.configuration]) as server:
            places = (
                ["--ledger", ledger, "--stores", api.configuration], ["--server", server.url, "--token-file", key])
            transaction = api.purchase.split("/")[1]
            for code, words in (
                    (0, [transaction, "--consented"]), (64, [transaction]),
                    (0, [transaction, "--consented", "--delivery", "wrong_item", "--sampled", "--percentage", "7",
                         "--preference", "decline"]),
                    (64, [transaction, "--consented", "--percentage", "101"])):
                told = len(api.told)
                here, there = (
                    outcome(tool.run_plain("consumption", *words, "--json", *place)) for place in places)
                comparison.count += 1
                said = api.told[told:]
                if here[0] != code or (found := difference(there, here)):
                    comparison.tell("consumption " + " ".join(words[1:]), found if here[0] == code else here)
                if len(said) != (2 if code == 0 else 0) or said[:1] != said[1:]:
                    comparison.tell("consumption", "the store is told %s" % said)
            server.stop()


def check_exports(comparison, scratch, key):
    """What is exported from a server's directory and by its address are the same files, byte for byte."""
    way = comparison.ways[1]
    places = (["--ledger", way.ledger], ["--server", way.server.url, "--token-file", key])
    output = os.path.join(scratch, "exported")
    for code, words in (
            (0, "--from 0 --to 9"), (0, "--from 3 --redact none"), (0, "--from 2026-06-01 --format ndjson"),
            (0, "--from 2 --format csv --format ndjson"), (66, "--from 99999"), (64, "--from yesterday"),
            (66, "--customer nobody"),
            # Last: that an administrator's key looked is noted.
            (0, "--customer frankj --at 2025-06-01 --known-sequence 9 --format csv --format html --format ndjson")):
        found = []
        for place in places:
            done = outcome(way.tool.run_plain("export", *words.split(), "--output", output, "--json", *place))
            files = {}
            for name in sorted(os.listdir(output)) if os.path.isdir(output) else ():
                with open(os.path.join(output, name), "rb") as file:
                    files[name] = file.read()
            if code == 0 and outcome(way.tool.run_plain("check-export", output))[0] != 0:
                comparison.tell("export " + words, "it is not whole")
            shutil.rmtree(output, ignore_errors=True)
            found.append((done, files))
        (here, those), (there, these) = found
        comparison.count += 1
        if here[0] != code:
            comparison.tell("export " + words, "exit %d instead of %d: %s" % (here[0], code, here[2][-200:]))
        if told := difference(there, here):
            comparison.tell("export %s, elsewhere" % words, told)
        for name in {*those, *these}:
            if those.get(name) != these.get(name):
                comparison.tell("export " + words, "%s is another file elsewhere: %s" % (
                    name, difference((0, these.get(name, b""), b""), (0, those.get(name, b""), b""))))


def check_tables(comparison, key):
    """A report as a table is the same bytes both ways."""
    way = comparison.ways[1]
    places = (["--ledger", way.ledger], ["--server", way.server.url, "--token-file", key])
    here, there = (outcome(way.tool.run_plain("report", "customers", "--csv", *place)) for place in places)
    if here[0] or (told := difference(there, here)):
        comparison.tell("report customers --csv, elsewhere", told or "exit %d" % here[0])


def check_status(comparison, ask, elsewhere):
    """The status in both ways, but for the disk's figures, which others change too. It changes as the server works:
    what stands between two equal ones is compared."""
    here = ["--ledger", comparison.ways[1].ledger]
    for _ in range(10):
        before, there, after = (masked(ask(place), DISK, without_figures) for place in (here, elsewhere, here))
        if before == after:
            if told := difference(there, before):
                comparison.tell("status, elsewhere", told)
            return
    raise Fault("the status of an idle server changes all the time")


def events():
    """Events that all ledgers begin with, behind the catalog: two purchases, who owns them, and who will be erased."""
    for mark in FORMATS:
        subject = "purchase/app_store/p" + mark
        for number, (kind, about, data) in enumerate((
                ("purchase.completed", subject, {
                    "transactionId": "t" + mark, "productId": "month", "productKind": "auto_renewable",
                    "expiresAt": "2040-01-01T00:00:00.000Z"}),
                ("verification.passed", subject, {"method": "store_api"}),
                ("customer.claimed", "customer/frank" + mark, {"purchase": "app_store/p" + mark}),
                ("grant.given", "customer/gone" + mark, {"grantId": "f", "tier": "plus"}))):
            yield {"specversion": "1.0", "id": "%s%d" % (mark, number), "source": "check", "type": kind,
                   "subject": about, "time": "2025-01-05T00:00:00.000Z", "data": data}


def imported():
    """Lines of imports by their files' names: events, such with faults between them, webhooks, and an array."""
    def event(number, data):
        return {"specversion": "1.0", "id": "import-%d" % number, "source": "legacy", "type": "grant.given",
                "subject": "customer/iris", "time": "2025-02-05T00:00:00.000Z", "data": data}

    events = [json.dumps(event(number, {"grantId": "i%d" % number, "tier": "plus"})) for number in range(5)]
    differing = json.dumps(event(0, {"grantId": "i0", "tier": "pro"}))
    webhook = {"api_version": "1.0", "event": {
        "id": "rc-1", "type": "INITIAL_PURCHASE", "app_user_id": "jack", "original_app_user_id": "jack",
        "product_id": "month", "store": "APP_STORE", "environment": "PRODUCTION", "original_transaction_id": "rc-t",
        "transaction_id": "rc-t", "purchased_at_ms": 1_760_000_000_000, "expiration_at_ms": 1_790_000_000_000,
        "event_timestamp_ms": 1_760_000_001_000, "period_type": "NORMAL"}}
    return {
        "lines": "\n".join(events[:3]) + "\n",
        # Known, blank, no JSON, known with another content, no event, and one more behind them.
        "broken": "\n".join([events[0], "", "{", differing, "{}", '"\udcff"', events[4]]) + "\n",
        "webhooks": json.dumps(webhook) + "\n" + json.dumps({**webhook, "event": {"id": 1}}) + "\n" + json.dumps(
            # Known, and says something else.
            {**webhook, "event": {**webhook["event"], "price": 3}}) + "\n",
        "array": json.dumps([webhook, {**webhook, "event": {**webhook["event"], "id": "rc-2"}}], indent=1)}


def exported():
    """What RevenueCat exported: who has the same there and here, who has more there, under other names, and of another
    environment."""
    columns = (
        "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "product_identifier", "start_time", "end_time",
        "store", "is_auto_renewable", "is_sandbox", "renewal_number", "store_transaction_id",
        "original_store_transaction_id")
    rows = [
        (customer, alias or customer, "month", "2025-01-05 00:00:00", "2040-01-01 00:00:00", "app_store", "true",
         sandbox, "1", transaction, transaction)
        for customer, alias, sandbox, transaction in (
            ("frankj", None, "false", "pj"), ("frankt", "erint", "false", "pt"), ("alicej", None, "false", "more"),
            ("bobj", "hanaj", "false", "nj"), ("stranger", None, "false", "other"), ("carolj", None, "true", "boxed"))]
    return "".join(",".join(row) + "\n" for row in (columns, *rows))


def make(tool):
    """A ledger with a catalog and purchases, files of catalogs, and files of keys by their scopes."""
    files = {}
    for name, value in (("catalog", CATALOG), ("other", OTHER_CATALOG), ("bad", BAD_CATALOG)):
        files[name] = os.path.join(tool.scratch, name + ".json")
        with open(files[name], "w", encoding="utf-8") as file:
            json.dump(value, file)
    for name, text in imported().items():
        files[name] = os.path.join(tool.scratch, name + ".ndjson")
        with open(files[name], "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
    files["rows"] = os.path.join(tool.scratch, "rows.csv")
    with open(files["rows"], "w", encoding="utf-8") as file:
        file.write(exported())
    lines = [{"customer": "alicej"}, {"customer": "bobj", "environment": "sandbox", "at": "2026-05-01"},
             {"customer": "nobody", "knownSequence": 3}, {"customer": "frankj", "known": "2026-01-01T00:00:00Z"}]
    for name, questions in (("asked", lines), ("misasked", [*lines[:2], {"customer": ""}, *lines[2:]])):
        files[name] = os.path.join(tool.scratch, name + ".ndjson")
        with open(files[name], "w", encoding="utf-8") as file:
            file.write("".join(json.dumps(question) + "\n" for question in questions))
    files["customers"] = os.path.join(tool.scratch, "customers.txt")
    with open(files["customers"], "w", encoding="utf-8") as file:
        file.write("".join("both%s\n" % mark for mark in FORMATS))
    ledger = tool.directory("alone")
    tool.ask(ledger, "init", "--catalog", files["catalog"])
    tool.ask(ledger, "import", "--format", "events", "-",
             data="".join(json.dumps(event) + "\n" for event in events()).encode())
    if len(tool.ask(ledger, "events", "--json").splitlines()) != BASE:
        raise Fault("the ledgers begin with another number of events")
    # Of who is erased later on.
    files["erased"] = json.loads(tool.ask(ledger, "show", "gonej", "--json"))["token"]
    keys = {}
    for scope in ("admin", "write", "read"):
        keys[scope] = os.path.join(tool.scratch, scope + ".txt")
        with open(keys[scope], "w", encoding="utf-8") as file:
            file.write(tool.key(ledger, scope) + "\n")
    return ledger, files, keys


def run(tool, material, report, seed):
    scratch = tool.directory("commands")
    os.makedirs(scratch)
    still = Tool(tool.binary, scratch)
    still.environment.update(LD_PRELOAD=clock_library(tool.scratch), CLOCK_STANDS=str(NOON))
    ledger, files, keys = make(still)
    # A path that needs care in an address, and as long as a socket's may be.
    held = copy_ledger(ledger, reached.ledger_path(scratch, reached.PATH_BYTES, "held ü%20"))
    other = copy_ledger(ledger, still.directory("elsewhere"))
    with contextlib.ExitStack() as servers:
        holder, distant = (servers.enter_context(Server(still, path, "")) for path in (held, other))
        reached.wait_for(os.path.join(held, reached.SOCKET), holder)
        comparison = Comparison(report, [
            Way(still, "alone", ledger, files), Way(still, "by the socket", held, files, holder),
            Way(still, "by the address", other, files, distant, keys)])
        figures = {"steps": check_steps(comparison)}
        keep_tokens(still, held, files)
        check_consumption(still, comparison, scratch)
        files["checkpoint"] = os.path.join(scratch, "checkpoint.txt")
        with open(files["checkpoint"], "wb") as file:
            file.write(still.ask(held, "checkpoint"))
        figures["questions"] = check_questions(comparison, QUESTIONS, keys["read"]) + check_questions(
            comparison, ADMIN_QUESTIONS, keys["admin"]) + check_questions(comparison, AUDITS, keys["admin"], 1)
        check_tables(comparison, keys["read"])
        check_exports(comparison, scratch, keys["admin"])
        holder.require_alive()
        distant.require_alive()
        figures.update(reached.check(tool, material, report, distant, keys))
    for path in (held, other):
        checked_audit(still, path)
    report.figures["commands"] = figures
