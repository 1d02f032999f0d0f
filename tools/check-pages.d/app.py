"""An app's side of the paywall: it buys at the device's App Store, claims at the ledger, and tells the page."""

import http.client
import urllib.parse

from harness.report import Fault
from harness.server import exchange, expect

# What is told through a handler is kept until the app takes it.
HANDLERS = {
    "webkit": """
        window.told = [];
        window.webkit = {messageHandlers: {entitle: {postMessage: (message) => window.told.push(message)}}};""",
    "android": """
        window.told = [];
        window.entitle = {postMessage: (text) => window.told.push(JSON.parse(text))};""",
    # A web view asks its app before it leaves the page for an address (a navigation policy): so does this.
    "scheme": """
        window.told = [];
        navigation.addEventListener("navigate", (event) => {
          const url = new URL(event.destination.url);
          if (url.protocol !== "entitle:") return;
          event.preventDefault();
          const words = /^entitle:\\/\\/([a-z]+)/.exec(url.href);
          window.told.push({action: words[1], ...Object.fromEntries(url.searchParams)});
        });""",
}


class NativeApp:
    """A customer's app with a web view in it; `answers`: what stands before each of the store's sheets."""

    def __init__(self, driver, demo, customer, answers=("buy",)):
        self.driver = driver
        self.demo = demo
        self.customer = customer
        self.answers = list(answers)

    def serve(self):
        """Does what the page asked for, once; whether it asked."""
        message = self.driver.execute_script("return window.told.shift() || null")
        if message is None:
            return False
        result = {"purchase": self._buy, "restore": self._restore}[message["action"]](message)
        self.driver.execute_script("window.entitlePaywall.done(arguments[0])", result)
        return True

    def _buy(self, message):
        # Of a store whose products have ids of their own, that one.
        bought = self.device("purchases", {
            "productId": message.get("storeProduct") or message["product"], "answer": self.answers.pop(0)})
        if bought["result"] == "user_cancelled":
            return "cancelled"
        if bought["result"] == "pending":
            return "pending"
        if bought["result"] == "failed":
            return {"status": "failed", "code": bought["code"]}
        self._claim(bought["transaction"])
        return "success"

    def _restore(self, _):
        held = self.device()["held"]
        for transaction in held:
            self._claim(transaction)
        return "success" if held else "nothing"

    def hear(self):
        """Claims what the store tells by itself: what somebody else agreed to."""
        for transaction in self.device()["unfinished"]:
            self._claim(transaction)

    def _claim(self, transaction):
        """Finished is only what the ledger has (CL1)."""
        outcome = self.ledger("POST", "/purchases", {
            "store": "app_store", "signedTransaction": transaction["signed"]})
        if outcome["outcome"] != "recorded":
            raise Fault("%s: the claim is %s" % (self.customer, outcome))
        self.device("finish", {"transactionId": transaction["id"]})

    def device(self, call="transactions", body=None):
        """What the store knows of the device, or does for it."""
        method = "GET" if call == "transactions" else "POST"
        return ask(self.demo.store, method, "/device/accounts/%s/%s" % (self.customer, call), body)

    def ledger(self, method="GET", path="", body=None):
        """What the ledger says of the customer, or records for them."""
        return ask(self.demo.url, method, "/v1/customers/%s%s" % (self.customer, path), body, self.demo.key)

    def is_open(self, feature):
        """Whether the interface gives a feature."""
        return self.ledger(path="/features/" + feature)["allowed"]

    def purchases(self):
        """The names of what the ledger has recorded."""
        return [one["purchase"] for one in self.ledger()["purchases"]]


class Liar(NativeApp):
    """An app that says that it bought, and did not."""

    def _buy(self, _):
        return "success"



def ask(base, method, path, body=None, key=None):
    """The JSON of what a server answers, which has to be a 200."""
    place = urllib.parse.urlsplit(base)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    try:
        return expect(exchange(connection, method, path, body, key), 200, path)
    finally:
        connection.close()
