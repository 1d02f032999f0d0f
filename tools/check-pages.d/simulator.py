"""The simulator's page: what is done there is what the ledger's customers have a moment later (Z7).

It turns the clock: whoever was signed in before, but for who turned it, is not any more.
"""

from app import NativeApp
from harness.report import Fault
from paywall import next_page

PAGE = "/console/simulator"
CUSTOMER, PRODUCT, FEATURE = "simulated-1", "pro.month", "export"
# What happens, whether the feature is open then, and what the ledger was told.
STEPS = [
    ("grace", True, "DID_FAIL_TO_RENEW/GRACE_PERIOD"),
    ("end_grace", False, "GRACE_PERIOD_EXPIRED"),
    ("renew", True, "DID_RENEW/BILLING_RECOVERY"),
    ("refund", False, "REFUND"),
    ("reverse_refund", True, "REFUND_REVERSED"),
    ("expire", False, "EXPIRED/VOLUNTARY"),
    ("resubscribe", True, "SUBSCRIBED/RESUBSCRIBE"),
]


def run(browser, demo):
    driver = browser.driver
    app = NativeApp(driver, demo, CUSTOMER)
    browser.look(PAGE)
    send(driver, "buy", customer=CUSTOMER, product=PRODUCT)
    expect(app, driver, True, "SUBSCRIBED/INITIAL_BUY")
    browser.look(PAGE + "?q=" + CUSTOMER)
    for step, is_open, told in STEPS:
        send(driver, "step", step=step)
        expect(app, driver, is_open, told)
    # What cannot happen is refused, and nothing is told.
    before = rows(driver)
    send(driver, "step", step="resume")
    browser.look(PAGE)
    if rows(driver) != before:
        raise Fault("what cannot happen was told")
    before = driver.execute_script("return document.querySelector('#clock time').dateTime")
    send(driver, "clock", ahead=str(7 * 86_400_000))
    after = driver.execute_script("return document.querySelector('#clock time').dateTime")
    if not after > before:
        raise Fault("the clock stands at %s" % after)
    refused = [row for row in rows(driver) if row[3] not in ("appended", "recorded", "known", "duplicate")]
    if refused:
        raise Fault("the ledger refuses %s" % refused[0])
    return {"told": len(rows(driver))}


def rows(driver):
    """What the ledger was told, the newest first: time, customer, signal, outcome, number."""
    return driver.execute_script(
        "return [...document.querySelectorAll('#told tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))")


def send(driver, form, **fields):
    """Fills a form in and sends it; the page that follows is loaded then."""
    found = driver.execute_script("""
        const form = document.querySelector(`form[action*="/simulator/${arguments[0]}"]`);
        if (!form) return false;
        for (const [name, value] of Object.entries(arguments[1])) form.elements[name].value = value;
        return true""", form, fields)
    if not found:
        raise Fault("there is no form %s in %s" % (form, driver.current_url))
    with next_page(driver):
        driver.find_element("css selector", 'form[action*="/simulator/%s"] button' % form).click()


def expect(app, driver, is_open, told):
    newest = [row[2] for row in rows(driver) if row[1] == CUSTOMER][:1]
    if newest != [told]:
        raise Fault("told is %s instead of %s" % (newest, told))
    if app.is_open(FEATURE) != is_open:
        raise Fault("after %s it is %s" % (told, "closed" if is_open else "open"))
