"""Every route, asked over HTTP by whom it lets in and by whom it does not."""

import json
import re
import time
import urllib.parse

from commands import ADDRESS, NAMED, OTHERS
from harness.report import Fault, say
from harness.server import Server, expect

POINTS = {
    "now": "", "march": "?at=2025-03-15T00:00:00Z",
    "june": "?at=2025-06-20T12:00:00Z&known=2025-06-01T00:00:00Z",
    "prefix": "?at=2025-08-31T00:00:00Z&knownSequence=1500",
    "zone": "?at=2025-09-15T00:00:00%2B02:00",
}
REPORTS = ("customers", "revenue", "refunds", "funnel", "stages", "errors", "experiments")
JSON = {"Content-Type": "application/json"}
# Looks for a delivery, ten a second.
DELIVERY_LOOKS = 300
# The time of a connection's end and a port say nothing of an answer.
HEADERS_LEFT_OUT = ("connection", "keep-alive")


class Calls:
    def __init__(self, server, given, recording):
        self.server, self.given, self.recording = server, given, recording
        self.asked = set()
        self.changed = False

    def ask(self, name, method, path, body=None, by="read", headers=None):
        """One request by a key's scope, a customer (`@alice`) or nobody; keeps the whole answer."""
        self.asked.add((method.lower(), urllib.parse.urlsplit(path).path))
        name = "call-" + name
        if not self.recording.wants(name):
            return {}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        sent = {**(JSON if body is not None else {}), **(headers or {})}
        if by:
            token = self.given.tokens[by[1:]] if by[0] == "@" else self.given.keys.get(by, by)
            sent.setdefault("Authorization", "Bearer " + token)
        connection = self.server.connect(timeout=60)
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            data = response.read()
        finally:
            connection.close()
        lines = "".join("%s: %s\n" % (field.lower(), value) for field, value in sorted(
            response.getheaders()) if field.lower() not in HEADERS_LEFT_OUT)
        shown = ", ".join("%s: %s" % item for item in (headers or {}).items())
        self.recording.keep(name, [
            ("%s %s by %s %s" % (method, path, by, shown), b"%d\n" % response.status),
            ("headers", lines.encode()), ("body", data)], self.changed)
        return dict(response.getheaders())

    def again(self, name, method, path, **more):
        """The same question by whoever has the answer: with its ETag."""
        tag = self.ask(name, method, path, **more).get("ETag")
        if tag:
            self.ask(name + ".again", method, path, **{**more, "headers": {
                **more.get("headers", {}), "If-None-Match": tag}})


def questions(c):
    for customer in NAMED + OTHERS:
        path = "/v1/customers/" + customer
        for point, query in POINTS.items():
            at = "%s-%s" % (customer, point)
            more = "&" if query else "?"
            c.ask("show-" + at, "GET", path + query)
            c.ask("purchases-" + at, "GET", path + "/purchases" + query)
            c.ask("timeline-" + at, "GET", path + "/timeline" + query)
            for feature in ("record", "export", "spectrum"):
                c.ask("check-%s-%s" % (at, feature), "GET", "%s/features/%s%s" % (
                    path, feature, query))
            c.ask("explain-" + at, "GET", path + "/explain" + query + more + "feature=export")
        c.ask("diff-" + customer, "GET", path + "/diff?at=2025-03-15T00:00:00Z&toAt=2025-08-01T00:00:00Z")
        c.ask("flags-" + customer, "POST", "/ofrep/v1/evaluate/flags",
              {"context": {"targetingKey": customer}})
        for feature in ("record", "export"):
            c.ask("flag-%s-%s" % (customer, feature), "POST", "/ofrep/v1/evaluate/flags/" + feature,
                  {"context": {"targetingKey": customer}})
    alice = "/v1/customers/alice"
    for name, path in (("show", alice), ("check", alice + "/features/export"),
                       ("timeline", alice + "/timeline"), ("purchases", alice + "/purchases"),
                       ("explain", alice + "/explain?feature=export"),
                       ("catalog", "/v1/catalog"), ("gates", "/v1/catalog/gates"),
                       ("offering", "/v1/offerings?feature=export")):
        c.again("etag-" + name, "GET", path)
        c.again("etag-own-" + name, "GET", path, by="@alice")
    c.again("etag-flags", "POST", "/ofrep/v1/evaluate/flags",
            body={"context": {"targetingKey": "bob"}})
    tokens = {}
    for name, path in (("state", alice + "?"), ("access", alice + "/features/export?token=true&"),
                       ("timeline", alice + "/timeline?"), ("purchases", alice + "/purchases?"),
                       ("nameless", "/v1/customers/nobody?")):
        _, _, found = c.server.ask("GET", path + "at=2025-06-20T12:00:00Z")
        tokens[name] = "/v1/decisions/" + found["token"]
        c.ask("decision-" + name, "GET", tokens[name])
    for query in ("?customer=bob", "?customer=alice", "?customer="):
        c.ask("decision" + query, "GET", tokens["state"] + query)
    c.ask("decision-named", "GET", tokens["nameless"] + "?customer=nobody")
    c.ask("decision-none", "GET", "/v1/decisions/none")
    for by in ("audit", "@alice", None):
        c.ask("decision-%s" % by, "GET", tokens["state"], by=by)
    c.ask("diff-known", "GET", alice + "/diff?at=2025-04-15T00:00:00Z&known=2025-04-20T00:00:00Z"
          "&toKnown=2025-06-01T00:00:00Z")
    c.ask("sandbox", "GET", alice + "?environment=sandbox")
    c.ask("min-sequence", "GET", alice, headers={"Ledger-Min-Sequence": "10"})
    c.ask("min-sequence-ahead", "GET", alice, headers={"Ledger-Min-Sequence": "99999"})
    for customer in ("alice", "bob"):
        c.ask("svg-" + customer, "GET", "/v1/customers/%s/timeline" % customer,
              headers={"Accept": "image/svg+xml"})
    for reader in ("developer", "support", "customer"):
        for language in ("en", "ja", "zh-Hant"):
            c.ask("explain-%s-%s" % (reader, language), "GET",
                  "%s/explain?feature=export&for=%s&lang=%s" % (alice, reader, language))
    c.ask("explain-accept-language", "GET", alice + "/explain?feature=export", by="@alice",
          headers={"Accept-Language": "ja, en;q=0.5"})
    for redact in ("none", "signatures", "names", "all"):
        c.ask("export-" + redact, "GET", alice + "/export?redact=" + redact, by="@alice")
    for kind in ("text/csv", "text/html", "application/x-ndjson"):
        c.ask("export-" + kind, "GET", "/v1/customers/erin/export", by="@erin",
              headers={"Accept": kind})


def ledger(c):
    for point, query in POINTS.items():
        c.ask("catalog-" + point, "GET", "/v1/catalog" + query)
        c.ask("gates-" + point, "GET", "/v1/catalog/gates" + query)
        for report in REPORTS:
            c.ask("report-%s-%s" % (report, point), "GET", "/v1/reports/" + report + query)
    for report in REPORTS:
        c.ask("report-%s-range" % report, "GET", "/v1/reports/%s?from=2025-04-01T00:00:00Z"
              "&to=2025-07-01T00:00:00Z" % report, by="audit")
    c.ask("report-stages-thresholds", "GET", "/v1/reports/stages?thresholds=100,verify:1")
    c.ask("report-errors-windows", "GET", "/v1/reports/errors?windowMinutes=1440&minimumCount=1"
          "&baselineWindows=3&score=2.5&at=2025-06-13T00:00:00Z")
    c.ask("gates-viewer", "GET", "/v1/catalog/gates?customer=bob")
    c.ask("gates-own", "GET", "/v1/catalog/gates", by="@bob")
    for query in ("", "?store=app_store", "?store=none", "?locale=ja&storefront=JP"):
        c.ask("products" + query, "GET", "/v1/products" + query)
    c.ask("cluster", "GET", "/v1/cluster", by="audit")
    for query in ("", "?feature=export", "?feature=export&locale=de-DE&customer=bob", "?feature=none"):
        c.ask("offerings" + query, "GET", "/v1/offerings" + query)
    with open(c.server.file("catalog.json"), encoding="utf-8") as file:
        catalog = file.read()
    with open(c.server.file("catalog-bad.json"), encoding="utf-8") as file:
        bad = file.read()
    c.ask("whatif", "POST", "/v1/whatif?at=2025-08-01T00:00:00Z", catalog, by="audit")
    c.ask("whatif-effective", "POST", "/v1/whatif?effective=2025-05-01T00:00:00Z", catalog, by="audit")
    c.ask("whatif-samples", "POST", "/v1/whatif?samples=1&at=2025-08-01T00:00:00Z", catalog, by="audit")
    for name, by in (("audit", "audit"), ("read", "read")):
        c.ask("catalog-diff-" + name, "POST", "/v1/catalog/diff?at=2025-08-01T00:00:00Z", catalog, by=by)
    c.ask("whatif-bad", "POST", "/v1/whatif", bad, by="audit")
    c.ask("checkpoint", "GET", "/checkpoint", by="audit")
    for place in ("000", "010.p/10", "010.p/170", "099"):
        c.ask("entries-" + place, "GET", "/tile/entries/" + place, by="audit")
        c.ask("tile-" + place, "GET", "/tile/0/" + place, by="audit")
    c.ask("tile-level", "GET", "/tile/1/000.p/10", by="audit")
    for number in ("0", "1499", "99999", "x"):
        c.ask("proof-" + number, "GET", "/v1/proofs/" + number, by="audit")
        c.ask("consistency-" + number, "GET", "/v1/consistency/" + number, by="audit")
    c.ask("consistency-against", "GET", "/v1/consistency/9?against=nothing", by="audit")
    for by in ("admin", "read", "audit", "support"):
        c.ask("events-" + by, "GET", "/v1/events?limit=30", by=by)
    for query in ("after=20&limit=5&type=purchase.renewed", "source=revenuecat&limit=5", "environment=sandbox",
                  "customer=alice&limit=4", "since=2025-06-01&until=2025-06-03", "after=3&to=6", "raw=true", "after=99999", "limit=0", "type=none"):
        c.ask("events-" + query, "GET", "/v1/events?" + query)
    c.ask("events-raw", "GET", "/v1/events?limit=9&raw=true", by="admin")
    c.ask("events-of", "GET", "/v1/customers/alice/events?limit=10")
    c.ask("events-stream", "GET", "/v1/events/stream?after=3&limit=4", by="admin")
    c.ask("events-stream-again", "GET", "/v1/events/stream?limit=2", by="admin",
          headers={"Last-Event-ID": "%020d" % 7})
    for scope in ("", "?scope=quick", "?scope=hashes", "?scope=none"):
        c.ask("audit" + scope, "GET", "/v1/audit" + scope, by="audit")
    for query in ("?all=true", "?sample=0", "?all=true&sample=3"):
        c.ask("drift" + query, "GET", "/v1/drift" + query, by="audit")
    for name, query, body in (
            ("", "?at=2025-08-01", "{}"), ("-then", "?at=2025-08-01&knownSequence=1000", "{}"),
            ("-customer", "?at=2025-08-01", '{"customer":"alice"}'), ("-tokens", "", '{"tokens":[{},{"token":"AAAA"}]}'),
            ("-bad", "", '{"token":1}')):
        c.ask("replay" + name, "POST", "/v1/replay" + query, body, by="audit")
    for name, query in (("", ""), ("-everybody", "&everybody=true")):
        c.ask("comparison" + name, "GET", "/v1/comparison?at=2025-08-01" + query, by="admin")
    for name, body in (
            ("", '{"customers":[{"names":["alice","nobody"],"purchases":["app_store/1"]}]}'),
            ("-empty", '{"customers":[{"names":[],"purchases":[]}]}'), ("-bad", '{"names":["alice"]}')):
        c.ask("compare-customers" + name, "POST", "/v1/comparison?at=2025-08-01", body, by="admin")
    c.ask("audit-against", "GET", "/v1/audit?scope=quick&against=nothing", by="audit")
    c.ask("audit-html", "GET", "/v1/audit", by="audit", headers={"Accept": "text/html"})
    for query in ("?from=20&to=24", "?from=2025-06-01&to=2025-06-02", "?from=9&to=9", "?to=x", "?to=9&redact=names"):
        c.ask("export-log" + query, "GET", "/v1/export" + query, by="audit")
    c.ask("export-log-named", "GET", "/v1/export?to=9&redact=none", by="admin")
    c.ask("export-log-scope", "GET", "/v1/export", by="support")
    c.ask("health", "GET", "/healthz", by=None)
    c.ask("ready-stranger", "GET", "/readyz", by=None)
    c.ask("ready", "GET", "/readyz", by="admin")
    c.ask("openapi", "GET", "/openapi.json", by=None)


def errors(c):
    alice = "/v1/customers/alice"
    for by in ("metrics", "write", "audit", "@bob", "@expired", "el_nobody_nothing", None):
        c.ask("not-let-in-%s" % by, "GET", alice, by=by)
    for name, query in {
            "at": "?at=yesterday", "at-twice": "?at=2025-01-01T00:00:00Z&at=2025-01-02T00:00:00Z",
            "both": "?known=2025-01-01T00:00:00Z&knownSequence=3", "sequence": "?knownSequence=-1",
            "sequence-ahead": "?knownSequence=99999", "environment": "?environment=moon",
            "parameter": "?when=now", "percent": "?at=%zz"}.items():
        c.ask("error-" + name, "GET", alice + query)
    c.ask("error-route", "GET", "/v1/nothing")
    c.ask("error-method", "PUT", alice)
    c.ask("error-feature", "GET", alice + "/features/exprot")
    c.ask("error-feature-missing", "GET", alice + "/explain")
    c.ask("error-language", "GET", alice + "/explain?feature=export&lang=tlh")
    c.ask("error-name", "GET", "/v1/customers/%00")
    c.ask("error-min", "GET", alice, headers={"Ledger-Min-Sequence": "x"})
    c.ask("error-diff", "GET", alice + "/diff")
    c.ask("error-accept", "GET", alice, headers={"Accept": "text/x-none"})
    c.ask("error-report", "GET", "/v1/reports/stages?thresholds=fast")
    for name, body in (("none", ""), ("text", "nothing"), ("array", "[]"), ("empty", "{}"),
                       ("key", '{"context":{"targetingKey":7}}'),
                       ("environment", '{"context":{"targetingKey":"a","environment":"moon"}}')):
        c.ask("error-flags-" + name, "POST", "/ofrep/v1/evaluate/flags", body)
        c.ask("error-flag-" + name, "POST", "/ofrep/v1/evaluate/flags/export", body)
    # With a ticket it is a stream, which ends when its reader does.
    c.ask("error-flag-changes", "GET", "/ofrep/v1/changes?ticket=none", by=None)
    c.ask("error-flag-unknown", "POST", "/ofrep/v1/evaluate/flags/exprot",
          {"context": {"targetingKey": "alice"}})
    c.ask("error-flag-other", "POST", "/ofrep/v1/evaluate/flags/export",
          {"context": {"targetingKey": "alice"}}, by="@bob")


def changes(c):
    """What changes the ledger: said, said again, and refused."""
    c.changed = True
    alice, new = "/v1/customers/alice", "/v1/customers/new"
    purchase = "/v1/purchases/app_store%2F2000000123"
    signed = {"store": "app_store", "signedTransaction": c.given.signed["9003"]}
    broken = {**signed, "signedTransaction": c.given.signed["9003"][:-3] + "AAA"}
    with open(c.server.file("webhooks.ndjson"), encoding="utf-8") as file:
        webhook = file.readline()
    with open(c.server.file("catalog.json"), encoding="utf-8") as file:
        catalog = file.read()
    revenuecat = {"Authorization": c.given.revenuecat}
    for name, (method, path, body, by, headers) in {
            "grant": ("POST", alice + "/grants", {"grantId": "g", "tier": "basic"}, "support", {}),
            "grant-empty": ("POST", alice + "/grants", {}, "support", {}),
            "grant-member": ("POST", alice + "/grants", {"tier": "basic", "more": 1}, "support", {}),
            "grant-tier": ("POST", alice + "/grants", {"tier": "gold"}, "support", {}),
            "grant-tried": ("POST", alice + "/grants?dry-run=true", {"grantId": "tried", "tier": "basic"}, "support", {}),
            "grant-scope": ("POST", alice + "/grants", {"tier": "basic"}, "read", {}),
            "withdraw": ("DELETE", alice + "/grants/g", None, "support", {}),
            "withdraw-none": ("DELETE", alice + "/grants/none", None, "support", {}),
            "link": ("POST", new + "/links", {"alias": "new@device"}, "write", {}),
            "link-none": ("POST", new + "/links", {}, "write", {}),
            "events": ("POST", "/v1/events", [
                {"specversion": "1.0", "id": "bulk-1", "source": "legacy", "type": "grant.given",
                 "subject": "customer/new", "time": "2025-09-01T00:00:00Z", "environment": "production",
                 "data": {"grantId": "bulk", "tier": "basic"}}, {"id": "none"}], "admin", {}),
            "events-scope": ("POST", "/v1/events", [], "write", {}),
            "trial": ("POST", new + "/trials", {"trialId": "week"}, "write", {}),
            "trial-none": ("POST", new + "/trials", {"trialId": "month"}, "write", {}),
            "use": ("POST", new + "/usage", {"featureId": "record", "amount": 20,
                                             "unit": "seconds"}, "write", {}),
            "use-second": ("POST", new + "/usage", {"featureId": "record"}, "write", {}),
            "use-third": ("POST", new + "/usage", {"featureId": "record"}, "write", {}),
            "use-over": ("POST", new + "/usage", {"featureId": "record"}, "write", {}),
            "use-unknown": ("POST", new + "/usage", {"featureId": "none"}, "write", {}),
            "use-undo": ("POST", new + "/usage", {"undo": "none"}, "write", {}),
            "flow": ("POST", new + "/flows", {"type": "started", "flowId": "f1",
                                              "productId": "pro.month"}, "write", {}),
            "flow-busy": ("POST", new + "/flows", {"type": "started", "flowId": "f2"}, "write", {}),
            "flow-end": ("POST", new + "/flows", {"type": "failed", "flowId": "f1",
                                                  "errorCode": "NETWORK_ERROR"}, "write", {}),
            "claim": ("POST", new + "/purchases", signed, "write", {}),
            "claim-other": ("POST", alice + "/purchases", signed, "write", {}),
            "claim-bad": ("POST", new + "/purchases", broken, "write", {}),
            "restore-tried": ("POST", new + "/restore?dry-run=true", {"transactions": [signed, broken]}, "write",
                              {}),
            "restore": ("POST", new + "/restore", {"transactions": [signed, broken]}, "write", {}),
            "import": ("POST", "/v1/import?onError=skip", {"lines": [
                {"line": 1, "bytes": "e30="}, {"line": 2, "bytes": None}]}, "admin", {}),
            "import-none": ("POST", "/v1/import?format=none", {"lines": []}, "admin", {}),
            "import-scope": ("POST", "/v1/import", {"lines": []}, "ingest", {}),
            "extend": ("POST", purchase + "/extend", {"days": 7, "because": "outage"}, "support", {}),
            "extend-days": ("POST", purchase + "/extend", {"days": 91}, "support", {}),
            "extend-play": ("POST", "/v1/purchases/play_store%2F1/extend", {"days": 7}, "support", {}),
            "consumption": ("POST", "/v1/app-store/transactions/9003/consumption", {"consented": True}, "support",
                            {}),
            "consumption-not": ("POST", "/v1/app-store/transactions/9003/consumption", {}, "support", {}),
            "consumption-scope": ("POST", "/v1/app-store/transactions/9003/consumption", {"consented": True}, "write",
                                  {}),
            "products-load": ("POST", "/v1/products/load", None, "admin", {}),
            "sync-all": ("POST", "/v1/sync", {}, "admin", {}),
            "verify-all": ("POST", "/v1/verify", None, "admin", {}),
            "verify-all-scope": ("POST", "/v1/verify", None, "support", {}),
            "rebuild": ("POST", "/v1/rebuild", None, "admin", {}),
            "cluster-accesses": ("POST", "/v1/cluster/accesses", {"accesses": []}, "admin", {}),
            "console-scope": ("POST", "/v1/console/links", None, "support", {}),
            "checkpoint-scope": ("POST", "/v1/checkpoint", {}, "audit", {}),
            "checkpoint-bad": ("POST", "/v1/checkpoint", {"cosignatures": "x", "witnesses": []}, "admin", {}),
            "claim-known": ("POST", purchase + "/claim", {"customer": "new"}, "support", {}),
            "claim-known-scope": ("POST", purchase + "/claim", {"customer": "new"}, "write", {}),
            "transfer": ("POST", purchase + "/transfer", {"to": "new", "reason": "asked"}, "support", {}),
            "transfer-scope": ("POST", purchase + "/transfer", {"to": "new", "reason": "asked"}, "write",
                               {}),
            "transfer-none": ("POST", "/v1/purchases/app_store%2Fnone/transfer",
                              {"to": "new", "reason": "asked"}, "support", {}),
            "release": ("POST", purchase + "/release", {"reason": "asked"}, "support", {}),
            "release-empty": ("POST", purchase + "/release", {"reason": ""}, "support", {}),
            "verify": ("POST", alice + "/verify", None, "support", {}),
            "verify-record": ("POST", alice + "/verify?record=true", None, "support", {}),
            "verify-scope": ("POST", alice + "/verify", None, "read", {}),
            "app-store": ("POST", "/v1/signals/app-store", c.given.notification, None, {}),
            "app-store-bad": ("POST", "/v1/signals/app-store", {"signedPayload": "a.b.c"}, None, {}),
            "revenuecat": ("POST", "/v1/signals/revenuecat", webhook, None, revenuecat),
            "revenuecat-stranger": ("POST", "/v1/signals/revenuecat", webhook, None, {}),
            "play-stranger": ("POST", "/v1/signals/play", {"message": {"data": "e30="}}, None, {}),
            "sync": ("POST", alice + "/sync", None, "support", {}),
            "publish": ("POST", "/v1/catalog?effective=2025-10-01T00:00:00Z", catalog, "admin", {}),
            "publish-bad": ("POST", "/v1/catalog", {"tiers": []}, "admin", {}),
            "noted": ("GET", alice + "?knownSequence=2700", None, "support",
                      {"Access-Reason": "asked"}),
            "page-links": ("POST", alice + "/page-links", None, "support", {}),
            "page-links-scope": ("POST", alice + "/page-links", None, "read", {}),
            "erase": ("DELETE", "/v1/customers/dave", None, "admin", {}),
            "erase-scope": ("DELETE", "/v1/customers/dave", None, "write", {}),
            "erase-many-tried": ("POST", "/v1/erasures?dry-run=true", {"customers": ["dave", "new"]}, "admin", {}),
            "erase-many": ("POST", "/v1/erasures", {"customers": ["nobody-1", "nobody-2"]}, "admin", {}),
            "erase-many-none": ("POST", "/v1/erasures", {"customers": []}, "admin", {})}.items():
        key = {} if path.startswith("/v1/signals") or method == "GET" else {
            "Idempotency-Key": '"request-%s"' % name}
        for turn in ("", ".again"):
            c.ask("change-" + name + turn, method, path, body, by, {**headers, **key})
    c.ask("change-key-reused", "POST", alice + "/grants", {"tier": "premium"}, "support",
          {"Idempotency-Key": '"request-grant"'})
    c.ask("change-show-after", "GET", alice)
    c.ask("change-show-new", "GET", new)
    c.ask("change-show-erased", "GET", "/v1/customers/dave")
    # Who asks for support is noted in the log, a moment later: these name the prefix.
    for what in ("", "/timeline", "/purchases", "/features/export", "/explain?feature=export"):
        c.ask("support-" + what, "GET", "%s%s%sknownSequence=%d" % (
            alice, what, "&" if "?" in what else "?", 2700), by="support")


def webhooks(c):
    """Of somebody who is told of a grant, which waits for them: to this machine's own address nothing is sent."""
    hooks = "/v1/webhooks"
    for name, body in (("url", {}), ("address", {"url": "http://127.0.0.1/"}),
                       ("type", {"url": ADDRESS, "types": ["none"]}),
                       ("environment", {"url": ADDRESS, "environments": ["moon"]}),
                       ("flag", {"url": ADDRESS, "catalogChanges": 1}), ("member", {"url": ADDRESS, "more": 1})):
        c.ask("webhooks-bad-" + name, "POST", hooks, body, "admin")
    for by in ("read", "write", "support", "@alice", None):
        c.ask("webhooks-%s" % by, "GET", hooks, by=by)
    webhook = expect(c.server.ask("POST", hooks, {"url": ADDRESS}), 201, "a webhook")["id"]
    path = "%s/%s" % (hooks, webhook)
    expect(c.server.ask("POST", "/v1/customers/told/grants", {"grantId": "told", "tier": "basic"}), 200, "a grant")
    wait_for_delivery(c, path)
    keep_members(c, "webhooks-test", "POST", path + "/test")
    for name, (method, place, body) in {
            "list": ("GET", hooks, None), "one": ("GET", path, None), "none": ("GET", hooks + "/wh_none", None),
            "waiting": ("GET", path + "/deliveries", None),
            "dead": ("GET", path + "/deliveries?state=dead", None),
            "state": ("GET", path + "/deliveries?state=lost", None),
            "secret": ("POST", path + "/secrets", None),
            "disable": ("POST", path + "/disable", None), "enable": ("POST", path + "/enable", None),
            "resend-none": ("POST", path + "/deliveries/resend", {"ids": ["msg_none"]}),
            "resend-empty": ("POST", path + "/deliveries/resend", {"ids": []}),
            "resend-back": ("POST", path + "/deliveries/resend", {"from": 9, "to": 0}),
            "resend": ("POST", path + "/deliveries/resend", {"from": 0, "to": 9}),
            "remove": ("DELETE", path, None), "removed": ("DELETE", path, None),
            "add": ("POST", hooks, {"url": ADDRESS, "types": ["*", "grant.given"], "environments": ["sandbox", "local"],
                                    "catalogChanges": True})}.items():
        c.ask("webhooks-" + name, method, place, body, "admin")


def wait_for_delivery(c, path):
    """Waits until a delivery was tried once; the clock stands still, so that it is not tried again."""
    for _ in range(DELIVERY_LOOKS):
        found = expect(c.server.ask("GET", path + "/deliveries"), 200, "deliveries")["deliveries"]
        if found and found[0]["attempts"]:
            return
        time.sleep(0.1)
    raise Fault("nothing waits for a webhook")


def metrics(c):
    """The names and labels of the metrics, where all was asked; what they count is the process's."""
    _, _, text = c.server.ask("GET", "/metrics", key=c.given.keys["metrics"])
    c.asked.add(("get", "/metrics"))
    if c.recording.only:
        return
    lines = [re.sub(r" [^ ]+$", "", line) if not line.startswith("#") else line
             for line in text.splitlines() if "_bucket" not in line]
    c.recording.keep("call-metrics", [("GET /metrics", "\n".join(lines).encode())])


def moving(c):
    """What is signed or planned anew each time: that it is answered, and with which members."""
    for name, path in (("snapshot", "/v1/customers/alice/snapshot"), ("keys", "/.well-known/jwks.json"),
                       ("status", "/v1/status"), ("doctor", "/v1/doctor")):
        keep_members(c, name, "GET", path)


def keep_members(c, name, method, path):
    """Asks as administrator, and keeps status, type and the names of the members."""
    status, headers, value = c.server.ask(method, path)
    c.asked.add((method.lower(), path))
    members = sorted(value) if isinstance(value, dict) else []
    c.recording.keep("call-" + name, [("%s %s" % (method, path), ("%d %s %s" % (
        status, headers.get_content_type(), members)).encode())])


def require_every_route(c):
    """Every path and method of the description has to have been asked."""
    _, _, description = c.server.ask("GET", "/openapi.json")
    for path, methods in description["paths"].items():
        pattern = re.compile(re.sub(r"\\\{(place)\\\}", ".+", re.sub(
            r"\\\{(?!place)\w+\\\}", "[^/]+", re.escape(path))))
        for method in methods:
            if not any(asked == method and pattern.fullmatch(place) for asked, place in c.asked):
                raise Fault("nobody asks %s %s" % (method.upper(), path))


def run(tool, given, recording):
    say("answers: calls")
    copy = given.copy(tool, "calls")
    words = ["--stores", "stores.json", "--customer-keys", "customers.pem"]
    with Server(copy, "ledger", given.keys["admin"], words) as server:
        server.file = lambda name: "%s/%s" % (copy.scratch, name)
        c = Calls(server, given, recording)
        errors(c)
        questions(c)
        ledger(c)
        changes(c)
        webhooks(c)
        metrics(c)
        moving(c)
        require_every_route(c)
        server.stop()
