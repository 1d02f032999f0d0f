"""Keys and files that servers are started with."""

import os
import subprocess
import time

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from harness.app_store import AppStore
from harness.server import Server


def public_text(private):
    """A key's public half, as PEM."""
    return private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


class Signer:
    """Who signs customers' tokens."""

    def __init__(self):
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.public = public_text(self.private)

    def token(self, customer, seconds=3600, now=None):
        """A customer's token."""
        now = int(time.time()) if now is None else now
        claims = {"sub": customer, "iat": now, "exp": now + seconds}
        return jwt.encode(claims, self.private, "ES256")


class Material:
    """Files in a tool's scratch folder, made once."""

    def __init__(self, tool):
        self.tool = tool
        self.revenuecat_secret = "Bearer check-%s" % os.urandom(16).hex()
        self.write("revenuecat.txt", self.revenuecat_secret)
        self.app_store = AppStore(
            tool, tool.scratch, revenueCat={"authorizationFile": "revenuecat.txt"},
            # Nothing answers there: nobody's token is Google's.
            playStore={"packageNames": ["com.example.app"], "pushAudience": "here",
                       "pushServiceAccount": "push@example.com",
                       "jwksURL": "http://127.0.0.1:9/keys"})
        self.signer = Signer()
        self.customer_keys = self.write("customers.pem", self.signer.public)

    def path(self, name):
        return os.path.join(self.tool.scratch, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def certificate(self, name):
        """A new self-signed certificate of this machine: the paths of certificate and key."""
        paths = self.path(name + ".pem"), self.path(name + ".key")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", paths[1], "-out", paths[0], "-days", "2", "-subj",
             "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
            capture_output=True, check=True, timeout=60)
        return paths

    def ledger(self):
        """A ledger with a catalog, and the text of an admin key."""
        path = self.tool.make()
        return path, self.tool.key(path)

    def server(self, ledger=None, key=None, words=(), environment=None):
        """A server with these files; without a ledger it has an ephemeral one, with a catalog."""
        more = ["--stores", self.app_store.configuration, "--customer-keys", self.customer_keys]
        if ledger is None:
            more += ["--catalog", self.tool.catalog()]
        return Server(self.tool, ledger, key, [*more, *words], environment)
