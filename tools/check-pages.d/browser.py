"""Debian's Chromium, without a window."""

import base64
import os
import shutil
import sysconfig
import urllib.parse

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from harness.install import install
from harness.report import Missing

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE = os.path.join(
    sysconfig.get_paths()["purelib"], "axe_playwright_python", "axe.min.js")
HEIGHT = 900


class Browser:
    """A browser that is told how a page is to be looked at."""

    def __init__(self, scratch):
        packages = ("chromium", "chromium-driver", "fonts-noto-cjk")
        if not (install("chromium", *packages) and install("chromedriver", *packages)):
            raise Missing("there is no Chromium")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--force-device-scale-factor=1", "--hide-scrollbars",
                     "--user-data-dir=" + os.path.join(scratch, "browser")):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(
            service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_script_timeout(60)
        with open(AXE, encoding="utf-8") as file:
            self.axe = file.read()
        self.base = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def sign_in(self, demo):
        """Goes on as whoever is signed in there."""
        self.base = demo.url
        self.driver.execute_cdp_cmd("Network.enable", {})
        for cookie in demo.cookie.split("; "):
            name, value = cookie.split("=", 1)
            self.driver.execute_cdp_cmd("Network.setCookie", {
                "name": name, "value": value, "url": demo.url, "httpOnly": True, "sameSite": "Lax"})

    def look(self, path, theme="light", width=1280, language="en", scripts=True):
        """Loads a page as somebody sees it; what the browser's log has of it."""
        command = self.driver.execute_cdp_cmd
        command("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": "reduce"}]})
        command("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
        command("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": language}})
        command("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        self.driver.get_log("browser")
        self.driver.get(urllib.parse.urljoin(self.base, path))
        return self.log()

    def log(self):
        """What the browser has to say of the page."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def overflow(self):
        """Pixels by which a page is wider than the window."""
        metrics = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})
        return metrics["cssContentSize"]["width"] - metrics["cssLayoutViewport"]["clientWidth"]

    def violations(self):
        """What axe-core finds: the rule, and the first element."""
        self.driver.execute_script(self.axe)
        found = self.driver.execute_async_script(
            "axe.run({runOnly: arguments[0]}).then(arguments[1])", RULES)
        return ["%s: %s" % (rule["id"], rule["nodes"][0]["html"][:200])
                for rule in found["violations"]]

    def picture(self, path, height=6000):
        """Keeps what is seen of a page, down to a height."""
        metrics = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "format": "png", "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": metrics["width"],
                     "height": min(metrics["height"], height), "scale": 1}})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
