"""The reference OpenFeature provider from PyPI, unmodified, against the server (row Z8)."""

import json
import time
from urllib.parse import quote

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode

from harness.report import Fault
from harness.server import expect

FEATURE = "export"
EXPIRY_SECONDS = 3
# What a notice may take on a busy machine.
NOTICE_SECONDS = 30


class Provider:
    """An OpenFeature client of the server, with a credential."""

    def __init__(self, server, credential):
        api.set_provider(OFREPProvider(
            server.url, headers_factory=lambda: {"Authorization": "Bearer " + credential}))
        self.client = api.get_client()
        self.count = 0

    def require(self, what, customer, value, feature=FEATURE, default=False, error=None):
        """Evaluates a flag; value and error have to be these."""
        details = self.client.get_boolean_details(
            feature, default, EvaluationContext(targeting_key=customer))
        self.count += 1
        if details.value is not value or details.error_code != error:
            raise Fault("%s: %s %s instead of %s %s (%s)" % (
                what, details.value, details.error_code, value, error, details.error_message))
        if error is None and details.variant != ("allowed" if value else "denied"):
            raise Fault("%s: the variant is %s" % (what, details.variant))


def check_bulk(server, customer):
    """All flags at once, and 304 for those who have them; the tag changes with the answer."""
    path, context = "/ofrep/v1/evaluate/flags", {"context": {"targetingKey": customer}}
    status, headers, value = server.ask("POST", path, context)
    tag = headers.get("ETag")
    flags = {flag["key"]: flag["value"] for flag in value.get("flags", [])}
    if status != 200 or not tag or flags.get(FEATURE) is not False:
        raise Fault("all flags: %d, ETag %s, %s" % (status, tag, str(value)[:300]))
    status, _, text = server.ask("POST", path, context, headers={"If-None-Match": tag})
    if status != 304 or text:
        raise Fault("the same flags again: %d %s" % (status, str(text)[:100]))
    grants = "/v1/customers/%s/grants" % customer
    expect(server.ask("POST", grants, {"tier": "pro"}), 200, "a grant")
    status, headers, value = server.ask("POST", path, context, headers={"If-None-Match": tag})
    flags = {flag["key"]: flag["value"] for flag in value.get("flags", [])}
    if status != 200 or headers["ETag"] == tag or flags.get(FEATURE) is not True:
        raise Fault("other flags: %d, ETag %s" % (status, headers.get("ETag")))


def check_notices(server, customer):
    """The flags' stream, opened without a credential as a browser's EventSource does: it tells of a change."""
    path, context = "/ofrep/v1/evaluate/flags", {"context": {"targetingKey": customer}}
    _, headers, value = server.ask("POST", path, context)
    stream = value["eventStreams"][0]
    address = stream["endpoint"]["requestUri"]
    if stream["type"] != "sse" or customer in address:
        raise Fault("the flags' stream: %s" % str(stream)[:200])
    connection = server.connect(NOTICE_SECONDS)
    connection.request("GET", address)
    response = connection.getresponse()
    if response.status != 200 or response.getheader("Content-Type") != "text/event-stream":
        raise Fault("the flags' stream: %d" % response.status)
    expect(server.ask("POST", "/v1/customers/%s/grants" % customer, {"tier": "pro"}), 200, "a grant")
    began, agree = time.monotonic(), False
    # A look that reads the grant a moment before its own instant tells of flags that end there: the next notice
    # follows.
    while not agree and time.monotonic() - began < NOTICE_SECONDS:
        line = response.readline()
        if not line:
            raise Fault("the flags' stream ended")
        if not line.startswith(b"data: "):
            continue
        notice, took = json.loads(line[6:]), time.monotonic() - began
        status, now, value = server.ask(
            "POST", path + "?flagConfigEtag=" + quote(notice["etag"]), context,
            headers={"If-None-Match": headers["ETag"]})
        agree = notice["etag"] == now.get("ETag")
    connection.close()
    flags = {flag["key"]: flag["value"] for flag in value.get("flags", [])}
    if notice["type"] != "refetchEvaluation" or status != 200 or not agree or flags.get(FEATURE) is not True:
        raise Fault("a notice: %s, then %d %s" % (notice, status, str(value)[:200]))
    # Control: an address that was changed opens nothing.
    status, _, _ = server.ask("GET", address[:-8] + "AAAAAAAA", key=None)
    if status != 401:
        raise Fault("control: a changed ticket: %d" % status)
    return round(took * 1000)


def run(tool, material, report, seed):
    """Flags before and after a purchase, a grant, its end, and what is wrong."""
    with material.server() as server:
        provider = Provider(server, server.key)
        provider.require("before a purchase", "buyer", False)
        claim = {"store": "app_store", "signedTransaction": material.app_store.transaction(productId="year")}
        expect(server.ask("POST", "/v1/customers/buyer/purchases", claim), 200, "a purchase",
               outcome="recorded")
        provider.require("after the purchase", "buyer", True)
        provider.require("of somebody else", "other", False)

        provider.require("before a grant", "guest", False)
        ends = time.time() + EXPIRY_SECONDS
        grant = {"grantId": "g", "tier": "pro", "expiresAt": time.strftime(
            "%Y-%m-%dT%H:%M:%S", time.gmtime(ends)) + "Z"}
        expect(server.ask("POST", "/v1/customers/guest/grants", grant), 200, "a grant")
        provider.require("after the grant", "guest", True)
        time.sleep(max(0, ends - time.time()))
        # No event ends it: time alone does.
        provider.require("after the grant's end", "guest", False)

        for default in (False, True):
            provider.require(
                "an unknown flag", "buyer", default, feature="no-such", default=default,
                error=ErrorCode.FLAG_NOT_FOUND)
        provider.require(
            "nobody", None, True, default=True, error=ErrorCode.TARGETING_KEY_MISSING)
        own = Provider(server, material.signer.token("buyer"))
        own.require("with their own token", "buyer", True)
        own.require(
            "with another's token", "other", False, error=ErrorCode.FLAG_NOT_FOUND)
        wrong = Provider(server, "el_nobody_nothing")
        wrong.require("with a wrong key", "buyer", True, default=True, error=ErrorCode.GENERAL)
        check_bulk(server, "bulk")
        notice = check_notices(server, "noticed")
        try:
            provider.require("control", "buyer", False)
        except Fault:
            pass
        else:
            raise Fault("control: a wrong value was not found")
        server.stop()
    api.clear_providers()
    report.figures["flags"] = {
        "evaluations": provider.count + own.count + wrong.count, "plantedAndFound": 2,
        "noticeMilliseconds": notice}
