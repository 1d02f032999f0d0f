"""Customers' own pages in a browser: the paywall with an app's bridge behind it, and the history.

`check(driver, base, key, customer)` takes a Selenium driver of Chromium, a server's address with a catalog, a key
that may write, and a customer who bought something, and gives what it found wrong as sentences: none is well.
"""

import contextlib
import json
import time
import urllib.request

from app import HANDLERS
from harness.report import Fault

PATIENCE = 60


def link(base, key, customer, page):
    """Where a customer comes in to a page."""
    request = urllib.request.Request(
        "%s/v1/customers/%s/page-links" % (base, customer), data=b"", method="POST",
        headers={"Authorization": "Bearer " + key})
    with urllib.request.urlopen(request) as answer:
        links = json.load(answer)["links"]
    return base + next(each["path"] for each in links if each["page"] == page)


def until(condition):
    """Waits for what comes, and says whether it came."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


@contextlib.contextmanager
def bridge(driver, script):
    """Puts an app's side of the bridge into each page that is loaded."""
    made = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)


@contextlib.contextmanager
def next_page(driver):
    """Waits for the page that what is done leads to, were it the same one again."""
    driver.execute_script("window.isOld = true")
    yield
    if not until(lambda: driver.execute_script(
            "return !window.isOld && document.readyState === 'complete'")):
        raise Fault("no other page comes")


def text(driver, selector):
    """What is seen of an element; None: nothing."""
    return driver.execute_script(
        "const e = document.querySelector(arguments[0]); return e && e.checkVisibility() ? e.innerText : null", selector)


def click(driver, selector):
    """Clicks an element."""
    driver.execute_script("document.querySelector(arguments[0]).click()", selector)


def _done(driver, result):
    driver.execute_script("window.entitlePaywall.done(arguments[0])", result)


def _told(driver):
    return driver.execute_script("return window.told")


def cards(driver):
    """Rows 5.2, 5.3, 5.4: cards are chosen, the chosen one shows its details and its own button."""
    found = []
    places = driver.execute_script("return document.querySelectorAll('.choosable').length")
    if not places:
        return ["the paywall has no plans"]
    for place in range(places):
        click(driver, "#plan-%d" % place)
        shown = driver.execute_script(
            "return [...document.querySelectorAll('.choice')].map((e) => e.checkVisibility())")
        if shown != [other == place for other in range(places)]:
            found.append("plan %d: the details shown are %s" % (place, shown))
        small = driver.execute_script("""
            const sizes = [['.choosable', 64], ['.choice .action .button', 50], ['.close', 44]];
            return sizes.flatMap(([name, least]) => [...document.querySelectorAll(name)]
              .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < least)
              .map(() => name))""")
        found += ["smaller than it must be: %s" % name for name in small]
        href = driver.execute_script(
            "return [...document.querySelectorAll('.choice .button')].find((e) => e.checkVisibility()).href")
        if not href.startswith("entitle://purchase?product="):
            found.append("the button leads to %s" % href)
    wide = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        found.append("%d pixels stand beside the window" % wide)
    return found


def flow(driver):
    """Rows 2.1, 2.4, 2.5, 2.6, 5.5: asked first, covered while it runs, and told what came of it."""
    found = []
    purchase = "dialog[open] a[data-bridge=purchase]"

    def begin():
        driver.execute_script(
            "[...document.querySelectorAll('.choice .button')].find((e) => e.checkVisibility()).click()")
        if not until(lambda: text(driver, purchase)):
            found.append("nobody asked before the purchase (row 2.1)")
            return
        click(driver, purchase)
        if not until(lambda: text(driver, "#overlay-text")):
            found.append("nothing says that work is under way (row 2.6)")

    begin()
    message = (_told(driver) or [{}])[-1]
    if message.get("action") != "purchase" or not message.get("product"):
        found.append("the app was told %s" % message)
    role = driver.execute_script("return document.getElementById('overlay-text').getAttribute('role')")
    if role != "status":
        found.append("the overlay has no role=status")
    _done(driver, "cancelled")
    if not until(lambda: text(driver, "#overlay-text") is None):
        found.append("a cancelled purchase does not end quietly (row 2.4)")
    begin()
    _done(driver, {"status": "failed", "code": "NETWORK_ERROR"})
    if not until(lambda: text(driver, "#overlay-again")):
        found.append("a failed purchase offers no other try (row 2.5)")
    before = len(_told(driver))
    click(driver, "#overlay-again")
    if not until(lambda: len(_told(driver)) == before + 1):
        found.append("another try tells the app nothing")
    _done(driver, {"status": "failed", "code": "PURCHASE_INVALID"})
    if text(driver, "#overlay-again") is not None:
        found.append("another try is offered where it cannot help")
    click(driver, "#overlay-close")
    begin()
    _done(driver, "pending")
    if not until(lambda: text(driver, "#overlay-close")):
        found.append("a purchase that waits leaves no way on")
    click(driver, "#overlay-close")
    return found + unsaid(driver, begin)


def unsaid(driver, begin):
    """Rows 2.4, 2.5: what does not say how it ended is an error, and never a thank-you."""
    found = []

    def message(code):
        return driver.execute_script(
            "return document.querySelector('[data-code=' + arguments[0] + ']').textContent", code)

    for result, code in [(None, "UNKNOWN_ERROR"), ({}, "UNKNOWN_ERROR"), ("bought", "UNKNOWN_ERROR"),
                         ("working", "UNKNOWN_ERROR"), ({"status": "failed"}, "UNKNOWN_ERROR"),
                         ({"code": "NETWORK_ERROR"}, "NETWORK_ERROR")]:
        begin()
        _done(driver, result)
        expected = message(code)
        if not until(lambda: text(driver, "#overlay-text") == expected):
            found.append("told %r the page says %r" % (result, text(driver, "#overlay-text")))
        click(driver, "#overlay-close")
    return found


def history(driver, base, key, customer):
    """Rows 7.1, 7.2: details open as a dialog and close again."""
    found = []
    driver.get(link(base, key, customer, "history"))
    if "ticket" in driver.current_url:
        found.append("the ticket stays in the address")
    if not driver.execute_script("return document.querySelector('details.detail > summary') !== null"):
        return found + ["the history has no charge with details (rows 7.1, 7.2)"]
    click(driver, "details.detail > summary")
    if not until(lambda: text(driver, "dialog[open] dl")):
        return found + ["the details are in no dialog (row 7.2)"]
    click(driver, "dialog[open] [data-close]")
    if not until(lambda: text(driver, "dialog[open] dl") is None):
        found.append("the dialog does not close")
    return found


def check(driver, base, key, customer):
    """All of it, with an app's bridge in each page."""
    with bridge(driver, HANDLERS["android"]):
        driver.get(link(base, key, customer, "paywall"))
        return cards(driver) + flow(driver) + history(driver, base, key, customer)
