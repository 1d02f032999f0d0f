"""The support desk's task, by keys alone: why did this customer lose what they had?"""

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait

from demo import CUSTOMER
from harness.report import Fault

HEIGHT = 800
# Keys beside those of the id itself.
KEY_LIMIT = 3
# Seconds until the page that was asked for stands in the place of the one before.
PATIENCE = 20


def run(browser):
    browser.look("/console")
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": 1280, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
    keys = 0
    press(browser, "/")
    keys += 1
    press(browser, CUSTOMER)
    page = browser.driver.find_element(By.TAG_NAME, "html")
    press(browser, Keys.ENTER)
    keys += 1
    WebDriverWait(browser.driver, PATIENCE).until(expected_conditions.staleness_of(page))
    heading = browser.driver.find_element(By.TAG_NAME, "h1").text
    if CUSTOMER not in heading:
        raise Fault("the search leads to %r" % heading)
    answers = browser.driver.find_elements(By.CSS_SELECTOR, ".answer")
    if not answers:
        raise Fault("the page has no answer")
    bottom = browser.driver.execute_script(
        "return arguments[0].getBoundingClientRect().bottom", answers[0])
    if bottom > HEIGHT:
        raise Fault("the answer ends at %d px" % bottom)
    if keys > KEY_LIMIT:
        raise Fault("it takes %d keys beside the id" % keys)
    return {"keysBesideTheID": keys, "answerEndsAt": round(bottom), "says": answers[0].text[:200]}


def press(browser, keys):
    """Presses keys where the focus is."""
    browser.driver.switch_to.active_element.send_keys(keys)
