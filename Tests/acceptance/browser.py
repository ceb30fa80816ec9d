"""Chromium as a phone; every page is checked for accessibility the first time it is shown."""

import json
import time

from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException, ElementNotInteractableException, StaleElementReferenceException)
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import pages
from service import PASSWORD, ROOT, Failure

LANGUAGES = ("en", "it", "es", "ko")
TEXTS = {tag: json.loads((ROOT / f"web/locales/{tag}.json").read_text()) for tag in LANGUAGES}


def click(find, patience=10):
    """Clicks what `find` returns once it is clickable; a page's decision buttons are inert for the first second."""
    end = time.monotonic() + patience
    while True:
        try:
            return find().click()
        except (ElementNotInteractableException, ElementClickInterceptedException):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


class Phone:
    """A viewer's browser in one language, with or without scripts."""

    # Each page is checked once in all runs; settings of the service that change pages are tested without this check.
    seen: set = set()

    def __init__(self, service, language="en", script=True, patient=True):
        self.service, self.language, self.script = service, language, script
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--hide-scrollbars", "--ignore-certificate-errors"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        if not patient:
            # Otherwise every command waits until the page has loaded.
            options.page_load_strategy = "none"
        self.driver = webdriver.Chrome(options=options, service=Driver("/usr/bin/chromedriver"))
        self.problems, self.sources = [], []
        self.taps = 0

    def fresh(self, language=None):
        """Resets the browser to one without cookies."""
        self.language = language or self.language
        for command, values in (
            ("Network.enable", {}), ("Network.clearBrowserCookies", {}),
            ("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": self.language}}),
            ("Emulation.setScriptExecutionDisabled", {"value": not self.script}),
            ("Emulation.setDeviceMetricsOverride",
             {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}),
        ):
            self.driver.execute_cdp_cmd(command, values)
        self.driver.get("about:blank")

    def text(self, key, **values):
        text = TEXTS[self.language][key]
        return text.format(**values) if values else text

    def open(self, path):
        self.driver.get(path if "://" in path else self.service.url + path)

    def one(self, selector):
        return WebDriverWait(self.driver, 10).until(
            lambda driver: next(iter(driver.find_elements(By.CSS_SELECTOR, selector)), None), selector)

    def shown(self, selector):
        WebDriverWait(self.driver, 20).until(lambda _: self.one(selector).is_displayed(), f"{selector} is not shown")

    def tap(self, selector):
        """Taps, and waits for the next page."""
        self.taps += 1
        before = self.driver.find_element(By.CSS_SELECTOR, "html")
        click(lambda: self.one(selector))
        self.gone(before)

    def gone(self, element):
        def is_gone(_):
            try:
                element.is_enabled()
                return False
            except Exception:
                return True
        WebDriverWait(self.driver, 10).until(is_gone, "no other page came")

    def type(self, selector, text):
        self.one(selector).send_keys(text)

    def heading(self):
        return next((h.text for h in self.driver.find_elements(By.CSS_SELECTOR, "h1") if h.is_displayed()), None)

    def focused(self, element_id):
        """Waits for the focus: a browser sets it when it draws the page, and on a busy machine that is after the page has come."""
        WebDriverWait(self.driver, 10).until(
            lambda driver: driver.switch_to.active_element.get_attribute("id") == element_id, f"no focus on {element_id}")

    def expect(self, what, found, wanted):
        if found != wanted:
            raise Failure(f"{what}: {found!r} instead of {wanted!r}, on {self.driver.current_url}")

    def at(self, key, **values):
        """Waits for the page with this heading, and checks it the first time."""
        wanted = self.text(key, **values)
        try:
            # The page may change while the heading is read.
            WebDriverWait(self.driver, 15, ignored_exceptions=(StaleElementReferenceException,)).until(
                lambda _: self.heading() == wanted)
        except Exception:
            raise Failure(f"{wanted!r} does not come: {self.heading()!r} on {self.driver.current_url}") from None
        self.expect("lang", self.one("html").get_attribute("lang"), self.language)
        name = f"{key} {self.script} {self.driver.find_elements(By.CSS_SELECTOR, '.problem') != []}"
        if self.language == "en" and name not in self.seen:
            self.seen.add(name)
            self.look(key)

    def rested(self):
        """Waits until the page's decision buttons are visible, so that they are checked, too."""
        WebDriverWait(self.driver, 10).until(
            lambda driver: driver.execute_script(pages.RESTED), "a decision is not shown")

    def look(self, name):
        self.rested()
        self.sources.append((name, self.driver.page_source))
        # axe returns promises, which are never resolved while scripts are disabled.
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        self.driver.execute_script(pages.AXE)
        for scheme in pages.SCHEMES:
            pages.scheme(self.driver, scheme)
            for rule, help_text, nodes in self.driver.execute_async_script(pages.RUN_AXE):
                self.problems.append(f"{name} ({scheme}): axe {rule}: {help_text}: {nodes}")
        for html in self.driver.execute_script(pages.SMALL_TARGETS):
            self.problems.append(f"{name}: a target below 44 pixels: {html}")
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not self.script})

    def complaints(self):
        """The browser's log, without the messages that every page with an error status causes."""
        expected = ("Cross-Origin-Opener-Policy", "the server responded with a status of", "favicon", "Clear-Site-Data")
        return [entry["message"] for entry in self.driver.get_log("browser")
                if not any(part in entry["message"] for part in expected)]

    # Steps that several stories begin with.

    def scan(self, code):
        """Opens the link of the QR code, in capitals, as a camera does; without scripts one button opens the code."""
        self.open(f"/D/{code}")
        if not self.script:
            self.at("scanned.title")
            self.tap("main form button.main")
        else:
            WebDriverWait(self.driver, 10).until(
                lambda driver: not driver.current_url.endswith(code), "the script did not open the code")

    def sign_in(self, user="anna", password=PASSWORD):
        self.at("sign-in.title", provider="Aurora TV")
        self.type("#user", user)
        self.type("#password", password)
        self.tap("main button.main")

    def reach_approval(self, code, user="anna"):
        """Goes from the link to the page that compares the codes, in a browser without a session."""
        self.scan(code)
        self.at("provider.title")
        self.tap("button[value=aurora]")
        self.sign_in(user)
        self.at("approve.title")


def become(phone, cookies):
    """Replaces the browser's cookies by those of another viewer."""
    phone.driver.delete_all_cookies()
    for cookie in cookies:
        phone.driver.add_cookie(cookie)
