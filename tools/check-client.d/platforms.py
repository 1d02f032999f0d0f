"""The snippets of "From Android, the web and Flutter", run: of who bought, of who did not, and by a server that lies
(rows Z8, Z10)."""

import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.request

from app import PRODUCT, App
from harness.report import Fault
from harness.start import ROOT

PAGE = os.path.join(ROOT, "Sources", "EntitlementLedger", "EntitlementLedger.docc", "OtherPlatforms.md")
# How each language's snippet is run, and the end of its file's name.
RUNNERS = {
    "python": ([sys.executable, "-B"], ".py"),
    "javascript": (["node"], ".mjs"),
    "go": (["go", "run"], ".go"),
}
SNIPPETS = {"python": 3, "javascript": 2, "go": 1}


class Liar:
    """A server in front of another: one byte of each snapshot's claims is changed."""

    def __init__(self, url):
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                request = urllib.request.Request(url + self.path, headers={
                    "Authorization": self.headers["Authorization"]})
                with urllib.request.urlopen(request) as response:
                    data = response.read()
                if self.path.endswith("/snapshot"):
                    head, body, signature = data.split(b".")
                    place = len(body) // 2
                    other = b"A" if body[place:place + 1] != b"A" else b"B"
                    data = b".".join([head, body[:place] + other + body[place + 1:], signature])
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def snippets():
    """The page's blocks of code: language and text."""
    with open(PAGE, encoding="utf-8") as file:
        return re.findall(r"^```(python|javascript|go)\n(.*?)^```$", file.read(), re.M | re.S)


def printed(path, language, server, demo, customer, signed=""):
    """Exit code and output of a snippet."""
    words, _ = RUNNERS[language]
    done = subprocess.run(
        [*words, path], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "SERVER": server, "TOKEN": demo.key, "CUSTOMER": customer, "SIGNED": signed,
             "GO111MODULE": "off", "NODE_NO_WARNINGS": "1"})
    return done.returncode, (done.stdout or done.stderr).strip()


def run(tool, app, demo, report, _seed):
    buyer, other = "platforms-buyer", "platforms-other"
    if App(app, demo, tool.directory("platforms"), buyer).say("buy " + PRODUCT)[1] != ["Thank you."]:
        raise Fault("nothing was bought")
    # What another device's store signed, not handed in yet.
    signed = demo.device(other + "-device", "purchases", {"productId": PRODUCT})["transaction"]["signed"]
    figures = {"skipped": []}
    found = snippets()
    for language, count in SNIPPETS.items():
        if sum(1 for one, _ in found if one == language) != count:
            raise Fault("the page has not %d snippets in %s" % (count, language))
    liar = Liar(demo.url)
    try:
        for number, (language, text) in enumerate(found):
            words, end = RUNNERS[language]
            if not shutil.which(words[0]):
                figures["skipped"].append(language)
                continue
            path = os.path.join(tool.scratch, "snippet-%d%s" % (number, end))
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            figures[language] = figures.get(language, 0) + 1
            if "SIGNED" in text:
                code, said = printed(path, language, demo.url, demo, other + "-third", signed)
                if (code, said) != (0, "recorded"):
                    raise Fault("%s handed in: %d %s" % (language, code, said[-300:]))
                continue
            for customer, is_open in ((buyer, "true"), (other, "false")):
                code, said = printed(path, language, demo.url, demo, customer)
                if code != 0 or said.lower() != is_open:
                    raise Fault("%s, snippet %d, %s: %d %s" % (language, number, customer, code, said[-300:]))
            if "snapshot" in text:
                code, said = printed(path, language, liar.url, demo, buyer)
                if code == 0:
                    raise Fault("%s, snippet %d takes a changed snapshot: %s" % (language, number, said))
    finally:
        liar.close()
    report.figures["platforms"] = figures
