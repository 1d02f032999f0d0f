"""Each kind of page, looked at in every way that people look."""

import itertools
import os
import re
import time

THEMES = ["light", "dark"]
WIDTHS = [320, 768, 1280]
LANGUAGES = ["en", "ja", "zh-Hant"]
SCRIPTS = [True, False]
# Looks at each page when not all are taken.
TURNS = 3
LOOKS = list(itertools.product(THEMES, WIDTHS, LANGUAGES, SCRIPTS))
# Through all looks in steps that change all four at once, so that a few pages meet all values.
STEP = 23


def looks(index, whole):
    """The looks that a page gets."""
    if whole:
        return LOOKS
    return [LOOKS[(index * TURNS + turn) * STEP % len(LOOKS)] for turn in range(TURNS)]


def run(browser, pages, report, whole, screens):
    count, begin = 0, time.monotonic()
    for index, (name, path) in enumerate(sorted(pages.items())):
        for theme, width, language, scripts in looks(index, whole):
            place = "%s (%s, %d px, %s%s)" % (
                name, theme, width, language, "" if scripts else ", no script")
            for finding in found(browser, path, theme, width, language, scripts):
                report.fail(place, finding)
            count += 1
            if screens:
                label = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
                browser.picture(os.path.join(screens, "%s_%s_%d_%s%s.png" % (
                    label, theme, width, language, "" if scripts else "_noscript")))
    return {"looks": count, "seconds": round(time.monotonic() - begin, 1)}


def found(browser, path, *look):
    """What is wrong with a page as it is looked at."""
    log = browser.look(path, *look)
    findings = ["the browser says: " + line for line in log]
    wide = browser.overflow()
    if wide > 0:
        findings.append("it is %d px wider than the window" % wide)
    if look[-1]:
        findings += browser.violations()
        language = browser.driver.execute_script("return document.documentElement.lang")
        if language != look[2]:
            findings.append("it is in %s" % language)
    return findings
