"""Purchases from the paywall to the history, by an app that buys at the simulated App Store and claims at the
ledger (rows 2.1, 2.3 to 2.6, 6.1, 6.4, 7.1)."""

from app import HANDLERS, Liar, NativeApp
from harness.report import Fault
from paywall import bridge, click, link, next_page, text, until

PRODUCT, FEATURE = "pro.month", "export"


def run(browser, demo):
    """Each end that a purchase has, and an app that lies as a control."""
    for name, part in {
            "cancelled, failed, bought": cancelled_failed_bought, "asked for": asked_for,
            "restored": restored, "control, not bought": not_bought}.items():
        try:
            part(browser.driver, demo)
        except Fault as fault:
            raise Fault("%s: %s" % (name, fault)) from fault
    return {"ok": True}


def cancelled_failed_bought(driver, demo):
    """By the handler of Apple's web views; the second try after a failure buys."""
    app = NativeApp(driver, demo, "buyer-1", ["cancel", "fail", "buy"])
    with bridge(driver, HANDLERS["webkit"]):
        open_paywall(app)
        press(app)
        shown(app, "#overlay-text", None)
        closed(app)
        press(app)
        shown(app, "#overlay-again", "Try again")
        closed(app)
        click(driver, "#overlay-again")
        served(app)
        shown(app, "#overlay-text", "Done. Thank you!")
        opened(app)


def asked_for(driver, demo):
    """By the address that the button leads to; somebody else agrees later."""
    app = NativeApp(driver, demo, "buyer-2", ["ask"])
    with bridge(driver, HANDLERS["scheme"]):
        open_paywall(app)
        press(app)
        shown(app, "#overlay-text", "Your purchase waits for approval. It opens by itself once it is approved.")
        click(driver, "#overlay-close")
        closed(app)
        app.device("approve", {})
        closed(app)
        app.hear()
        driver.refresh()
        opened(app)


def restored(driver, demo):
    """By the handler of Android's: nothing at first, then what the device had bought without the ledger's knowing."""
    app = NativeApp(driver, demo, "buyer-3")
    with bridge(driver, HANDLERS["android"]):
        open_paywall(app)
        click(driver, "a[data-bridge=restore]")
        served(app)
        shown(app, "#overlay-text", "There is nothing to restore.")
        click(driver, "#overlay-close")
        closed(app)
        app.device("purchases", {"productId": PRODUCT})
        click(driver, "a[data-bridge=restore]")
        served(app)
        shown(app, "#overlay-text", "Done. Thank you!")
        opened(app)


def not_bought(driver, demo):
    """What an app says opens nothing: the page shows what the ledger has."""
    app = Liar(driver, demo, "buyer-4")
    with bridge(driver, HANDLERS["webkit"]):
        open_paywall(app)
        press(app)
        shown(app, "#overlay-text", "Done. Thank you!")
        try:
            opened(app)
        except Fault:
            return closed(app)
    raise Fault("it shows access that nobody bought")


def open_paywall(app):
    """Comes in as an app's customer, who chooses a plan."""
    app.driver.get(link(app.demo.url, app.demo.key, app.customer, "paywall"))
    if not app.driver.execute_script(
            "const plan = document.querySelector(`input[name=plan][value='${arguments[0]}']`);"
            "plan?.click(); return plan !== null", PRODUCT):
        raise Fault("the paywall has no %s" % PRODUCT)


def press(app):
    """The plan's button, then that of the dialog that asks; the app does what it is told."""
    app.driver.execute_script(
        "[...document.querySelectorAll('.choice .button')].find((e) => e.checkVisibility()).click()")
    asked = "dialog[open] a[href^='entitle://purchase']"
    if not until(lambda: text(app.driver, asked)):
        raise Fault("nobody asked before the purchase")
    click(app.driver, asked)
    served(app)


def served(app):
    if not until(app.serve):
        raise Fault("the app is told nothing")


def shown(app, selector, wanted):
    """What an element has to say in the end; None: it is not seen."""
    if not until(lambda: text(app.driver, selector) == wanted):
        raise Fault("%s says %r instead of %r" % (selector, text(app.driver, selector), wanted))


def closed(app):
    """Nothing was recorded, and nothing is open."""
    if app.purchases() or app.is_open(FEATURE):
        raise Fault("without a purchase it is open")


def opened(app):
    """It is recorded, finished, open, and stands in the paywall and in the history, once."""
    if text(app.driver, "#overlay-close"):
        with next_page(app.driver):
            click(app.driver, "#overlay-close")
    said = text(app.driver, ".answer .sentence")
    if not said:
        raise Fault("the paywall does not say what is open")
    device = app.device()
    ids = [one["id"] for one in device["held"]]
    if len(ids) != 1 or device["unfinished"] or device["finished"] != {ids[0]: 1}:
        raise Fault("the store has %s" % device)
    if app.purchases() != ["app_store/" + ids[0]] or not app.is_open(FEATURE):
        raise Fault("the ledger has %s" % app.purchases())
    app.driver.get(link(app.demo.url, app.demo.key, app.customer, "history"))
    charges = app.driver.execute_script(
        "return [...document.querySelectorAll('.charge .what')].map((e) => e.textContent)")
    if charges != [PRODUCT] or not text(app.driver, ".answer .sentence"):
        raise Fault("the history has %s" % charges)
