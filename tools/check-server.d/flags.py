"""The reference OpenFeature provider from PyPI, unmodified, against the server (row Z8)."""

import time

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode

from harness.report import Fault
from harness.server import expect

FEATURE = "export"
EXPIRY_SECONDS = 3


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
        try:
            provider.require("control", "buyer", False)
        except Fault:
            pass
        else:
            raise Fault("control: a wrong value was not found")
        server.stop()
    api.clear_providers()
    report.figures["flags"] = {
        "evaluations": provider.count + own.count + wrong.count, "plantedAndFound": 1}
