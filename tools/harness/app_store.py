"""The App Store, played by the command."""

import json
import os


class AppStore:
    """An authority, the configuration that trusts it, and what it signs."""

    def __init__(self, tool, folder, **more):
        """Writes `stores.json` into a folder, with `more` beside the App Store."""
        self.tool = tool
        self.authority = os.path.join(tool.scratch, "authority.pem")
        self.configuration = os.path.join(folder, "stores.json")
        tool.ask_plain(
            "simulate", "authority", self.authority, "--root", os.path.join(folder, "root.pem"))
        with open(self.configuration, "w", encoding="utf-8") as file:
            json.dump({"appStore": {
                "bundleIds": ["com.example.app"], "appAppleId": 1234567890,
                "roots": ["root.pem"], "builtInRoots": False}, **more}, file)

    def trigger(self, kind, *words):
        """What the simulator signs, for many of it in some minutes."""
        return self.tool.ask_plain(
            "simulate", "trigger", kind, "--authority", self.authority, *words, timeout=600)

    def notifications(self, count, kind="SUBSCRIBED/INITIAL_BUY", product="month"):
        """Bodies of signed notifications, of a purchase each."""
        return self.trigger(
            kind, "--count", str(count), "--transaction", json.dumps({"productId": product}),
            "--renewal-info", json.dumps(
                {"productId": product, "autoRenewProductId": product})).splitlines()

    def transaction(self, **members):
        """A signed transaction."""
        return self.trigger(
            "TRANSACTION", "--transaction", json.dumps(members)).decode().strip()
