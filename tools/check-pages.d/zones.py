"""Times in the reader's zone: beside the UTC of the page where there is a script, and UTC alone where there is none."""

from demo import CUSTOMER
from harness.report import Fault

PAGE = "/console/customers/" + CUSTOMER
TIMES = (
    "return [...document.querySelectorAll('time[datetime*=T]')].map(t => ["
    "t.textContent, t.title, (t.nextElementSibling || {}).textContent || ''])")


def run(browser):
    def times(zone, scripts=True, path=PAGE):
        browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})
        browser.look(path, width=320, scripts=scripts)
        if browser.overflow() > 0:
            raise Fault("%s is too wide with the times of %s" % (path, zone))
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        return browser.driver.execute_script(TIMES)

    try:
        home = times("Etc/UTC")
        if not home or any(title for _, title, _ in home):
            raise Fault("a reader in UTC is told local times: %r" % home[:2])
        local = times("Asia/Tokyo")
        if len(local) != len(home) or not all("GMT+9" in title for _, title, _ in local):
            raise Fault("a reader in Tokyo is not told local times: %r" % local[:2])
        if not any("GMT+9" in beside for _, _, beside in local):
            raise Fault("no local time stands beside its UTC")
        if not all("UTC" in text for text, _, _ in local):
            raise Fault("a time has lost its UTC: %r" % local[:2])
        if browser.violations():
            raise Fault("with local times: %s" % browser.violations()[0])
        plain = times("Asia/Tokyo", scripts=False)
        if len(plain) != len(home) or any(title for _, title, _ in plain) \
                or not all("UTC" in text for text, _, _ in plain):
            raise Fault("without a script a time does not say UTC: %r" % plain[:2])
        table = times("Asia/Tokyo", path="/console/events")
        if not table or not all("GMT+9" in title for _, title, _ in table):
            raise Fault("a table's times have no local title: %r" % table[:2])
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
    return {"times": len(local) + len(table)}
