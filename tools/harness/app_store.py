"""The App Store, played by the command."""

import base64
import http.server
import json
import os
import threading


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

    def served(self, transaction):
        """Its API on this machine, of a signed transaction, and a configuration that asks it."""
        return AppStoreAPI(self, transaction)

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


class AppStoreAPI:
    """The App Store Server API on loopback: it knows one transaction, and no subscription."""

    def __init__(self, store, known):
        # What it was told of consumptions: paths and bodies.
        told = self.told = []
        payload = json.loads(base64.urlsafe_b64decode(known.split(".")[1] + "=="))

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                answer = {"bundleId": "com.example.app", "environment": "Production"}
                if "/notifications/test/" in self.path:
                    return self.answer(200, {"sendAttempts": [{"sendAttemptResult": "SUCCESS"}]})
                if payload["transactionId"] not in self.path:
                    return self.answer(404, {"errorCode": 4040010, "errorMessage": "not found"})
                if "/v2/history/" in self.path:
                    answer.update(revision="1", hasMore=False, signedTransactions=[known])
                else:
                    answer.update(data=[])
                self.answer(200, answer)

            def do_POST(self):
                if self.path.endswith("/notifications/test"):
                    return self.answer(200, {"testNotificationToken": "t"})
                self.answer(200, {"hasMore": False, "notificationHistory": []})

            def do_PUT(self):
                if "/subscriptions/extend/" not in self.path:
                    told.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
                    return self.answer(202, None)
                self.answer(200, {"success": True, "effectiveDate": 1798761600000})

            def answer(self, status, body):
                self.send_response(status)
                self.end_headers()
                if body is not None:
                    self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_):
                pass

        self.purchase = "app_store/" + payload["originalTransactionId"]
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        folder = os.path.dirname(store.configuration)
        with open(store.authority, encoding="ascii") as file:
            end = "-----END PRIVATE KEY-----\n"
            key = file.read().split(end)[0] + end
        with open(os.path.join(folder, "api.p8"), "w", encoding="ascii") as file:
            file.write(key)
        with open(store.configuration, encoding="utf-8") as file:
            configuration = json.load(file)
        configuration["appStore"].update(
            issuerId="57246542-96fe-1a63-e053-0824d011072a", keyId="KEY1", privateKeyFile="api.p8",
            apiURL="http://127.0.0.1:%d" % self.server.server_port)
        self.configuration = os.path.join(folder, "asking.json")
        with open(self.configuration, "w", encoding="utf-8") as file:
            json.dump(configuration, file)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
