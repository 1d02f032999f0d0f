"""Google Play's pushes, played on this machine."""

import base64
import http.server
import json
import os
import threading
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

AUDIENCE = "https://ledger.example.com/v1/signals/play"
ACCOUNT = "push@example.iam.gserviceaccount.com"


class PlayPushes:
    """Who signs in to push, the keys that tell, and a configuration that believes them."""

    def __init__(self, material):
        private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key()))
        keys = json.dumps({"keys": [{**public, "kid": "k1", "alg": "RS256", "use": "sig"}]}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Cache-Control", "max-age=3600")
                self.send_header("Content-Length", str(len(keys)))
                self.end_headers()
                self.wfile.write(keys)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        now = int(time.time())
        self.token = jwt.encode(
            {"iss": "https://accounts.google.com", "aud": AUDIENCE, "email": ACCOUNT,
             "email_verified": True, "sub": "1", "iat": now, "exp": now + 3600},
            private, "RS256", headers={"kid": "k1"})
        with open(material.app_store.configuration, encoding="utf-8") as file:
            configuration = json.load(file)
        configuration["playStore"].update(
            pushAudience=AUDIENCE, pushServiceAccount=ACCOUNT,
            jwksURL="http://127.0.0.1:%d/keys" % self.server.server_port)
        self.configuration = os.path.join(
            os.path.dirname(material.app_store.configuration), "pushes.json")
        with open(self.configuration, "w", encoding="utf-8") as file:
            json.dump(configuration, file)

    @staticmethod
    def bodies(count, first=0):
        """Bodies of pushes, of a subscription each."""
        now = int(time.time() * 1000)
        return [PlayPushes.body(number, now) for number in range(first, first + count)]

    @staticmethod
    def body(number, now):
        # As long as Google's tokens are.
        token = ("%012d" % number) + "abcdefghijkl.AO-J1O" + "x" * 120
        notification = {
            "version": "1.0", "packageName": "com.example.app", "eventTimeMillis": str(now),
            "subscriptionNotification": {
                "version": "1.0", "notificationType": 4, "purchaseToken": token,
                "subscriptionId": "month"}}
        data = base64.b64encode(json.dumps(notification).encode()).decode()
        return json.dumps({
            "message": {"data": data, "messageId": "%016d" % number,
                        "publishTime": "2026-06-01T00:00:00Z"},
            "subscription": "projects/example/subscriptions/play"}).encode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
