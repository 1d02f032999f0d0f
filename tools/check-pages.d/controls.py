"""Faults planted into a page: each check must find its own."""

import time

from crawl import parsed
from demo import CUSTOMER
from harness.report import Fault

PAGE = "/console/customers/" + CUSTOMER


def run(browser, demo):
    planted = {
        "a page that is too wide": (widen, lambda: browser.overflow() > 0),
        "a text that is too pale": (pale, lambda: rule(browser, "color-contrast")),
        "a field without a name": (nameless, lambda: rule(browser, "label")),
        "an error of a script": (complain, lambda: bool(browser.log())),
        "a script that the policy forbids": (
            inline, lambda: any("Content Security Policy" in line for line in browser.log())),
    }
    for name, (plant, is_found) in planted.items():
        browser.look(PAGE)
        if is_found():
            raise Fault("control, %s: it is found where it was not planted" % name)
        plant(browser.driver)
        time.sleep(0.2)
        if not is_found():
            raise Fault("control, %s: it is not found" % name)
    _, _, text = demo.get(PAGE)
    try:
        parsed(text.replace("</h1>", "</h2>", 1), PAGE)
    except Fault:
        return {"found": len(planted) + 1}
    raise Fault("control, broken HTML: it is not found")


def rule(browser, name):
    return any(finding.startswith(name + ":") for finding in browser.violations())


def widen(driver):
    driver.execute_script("document.querySelector('main').style.minWidth = '4000px'")


def pale(driver):
    driver.execute_script(
        "const p = document.createElement('p'); p.textContent = 'pale'; p.style.color = '#bbb';"
        "p.style.background = '#fff'; document.querySelector('main').append(p)")


def nameless(driver):
    driver.execute_script("document.querySelector('main').append(document.createElement('input'))")


def complain(driver):
    driver.execute_script("console.error('planted')")


def inline(driver):
    driver.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.planted = 1';"
        "document.querySelector('main').append(s)")
