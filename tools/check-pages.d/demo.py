"""`entitle demo`, and who is signed in to its console."""

import http.client
import os
import re
import select
import subprocess
import time
import urllib.parse

import paywall
from harness.report import Fault
from harness.server import UNLIMITED

CUSTOMERS = 40
CUSTOMER = "customer-3"
START_SECONDS = 120
LINK = re.compile(r"(http://\S+)/console/login\?code=(\S+)")
KEY = re.compile(r"with key (\S+)")
STORE = re.compile(r"entitle-example \S+ \S+ (\S+)")


class Demo:
    """A year of made-up customers, served; ends with the block that it is used in."""

    def __init__(self, tool):
        self.process = subprocess.Popen(
            [tool.binary, "demo", "--port", "0", "--customers", str(CUSTOMERS)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=tool.scratch, env={**tool.environment, "ENTITLE_LIMITS": UNLIMITED})
        text = self._read_until_link()
        self.url, code = LINK.search(text).groups()
        self.key = KEY.search(text).group(1)
        self.store = STORE.search(text).group(1)
        self.cookie = "%s; %s" % (self._sign_in(code), self._let_in(CUSTOMER))

    def _read_until_link(self):
        """What it says until its link has come."""
        text, end = "", time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            readable, _, _ = select.select([self.process.stdout], [], [], 1)
            if readable:
                some = os.read(self.process.stdout.fileno(), 65536)
                if not some:
                    break
                text += some.decode()
                if LINK.search(text):
                    return text
        self.close()
        raise Fault("the demonstration prints no link: %s" % text[-300:])

    def _sign_in(self, code):
        """The cookie of whoever follows the link, NAME=VALUE."""
        status, headers, _ = self.request(
            "POST", "/console/login", urllib.parse.urlencode({"code": code}))
        if status != 303:
            raise Fault("the link does not let in: %d" % status)
        return headers["Set-Cookie"].split(";")[0]

    def _let_in(self, customer):
        """The cookie of a customer who follows a link to their own pages."""
        page = urllib.parse.urlsplit(paywall.link(self.url, self.key, customer, "history"))
        status, headers, _ = self.request("GET", "%s?%s" % (page.path, page.query))
        if status != 303:
            raise Fault("a customer's link does not let in: %d" % status)
        return headers["Set-Cookie"].split(";")[0]

    def request(self, method, path, body=None, cookie=None):
        """Status, headers and text of one request."""
        place = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        headers = {"Cookie": cookie} if cookie else {}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read().decode()
        finally:
            connection.close()

    def get(self, path):
        """A page for whoever is signed in."""
        return self.request("GET", path, cookie=self.cookie)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
