"""Every kind of page that the console's links lead to, and every form in which one can be had."""

import csv
import io
import json
import re
import time
import urllib.parse

import html5lib

from harness.report import Fault

STARTS = ["/console", "/console/login", "/console/customers", "/history", "/account", "/paywall"]
# Links of a kind that are followed: the first is the page of its kind, the others must be there.
PER_KIND = 3
NAMES_BEHIND = {"customers": "{id}", "explain": "{feature}", "deliveries": "{webhook}", "paywall": "{offering}"}
FORMS = {
    "json": json.loads,
    "ndjson": lambda text: [json.loads(line) for line in text.splitlines()],
    "csv": lambda text: list(csv.reader(io.StringIO(text))),
}


def kind(path):
    """A path with what names one thing among many left out."""
    segments = urllib.parse.urlsplit(path).path.strip("/").split("/")
    named = [NAMES_BEHIND.get(segments[index - 1]) if index else None
             for index in range(len(segments))]
    return "/" + "/".join(
        name or ("{n}" if re.fullmatch(r"\d+", segment) else segment)
        for name, segment in zip(named, segments))


def form(path):
    """json, ndjson or csv; None of a page."""
    ending = urllib.parse.urlsplit(path).path.rsplit(".", 1)
    return ending[1] if len(ending) == 2 and ending[1] in FORMS else None


class Crawl:
    """Follows links from page to page."""

    def __init__(self, demo):
        self.demo = demo
        # The first path of each kind.
        self.pages = {}
        self.counts = {}
        self.milliseconds = {}
        self.forms = 0

    def run(self):
        waiting = list(STARTS)
        while waiting:
            path = waiting.pop(0)
            name = kind(path)
            if form(path):
                name += "." + form(path)
            if self.counts.get(name, 0) >= PER_KIND:
                continue
            self.counts[name] = self.counts.get(name, 0) + 1
            waiting += self._visit(path, name)
        slowest = sorted(self.milliseconds, key=self.milliseconds.get, reverse=True)[:5]
        return {"kinds": len(self.pages), "links": sum(self.counts.values()), "forms": self.forms,
                "slowestMilliseconds": {name: round(self.milliseconds[name], 1) for name in slowest}}

    def _visit(self, path, name):
        """Reads a page; the links in it."""
        begun = time.perf_counter()
        status, headers, text = self.demo.get(path)
        taken = 1000 * (time.perf_counter() - begun)
        self.milliseconds[name] = max(taken, self.milliseconds.get(name, 0))
        if status in (302, 303):
            return [headers["Location"]]
        if status != 200:
            raise Fault("%s answers %d" % (path, status))
        # What is taken away as a file is no page.
        if headers.get_content_disposition() == "attachment":
            return []
        if form(path):
            FORMS[form(path)](text)
            self.forms += 1
            return []
        if headers.get_content_type() != "text/html":
            return []
        self.pages.setdefault(name, path)
        return links(parsed(text, path), path)


def parsed(text, path):
    """A page's elements; one that is no HTML is a fault."""
    try:
        return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
    except html5lib.html5parser.ParseError as error:
        raise Fault("%s is no HTML: %s" % (path, error)) from error


def links(document, path):
    """Where a page's links lead, within the pages."""
    found = []
    for element in document.iter("a"):
        target = urllib.parse.urljoin(path, element.get("href", ""))
        if target.split("#")[0] and re.match(r"/(console|paywall|history|account)\b", target):
            found.append(target.split("#")[0])
    return list(dict.fromkeys(found))
