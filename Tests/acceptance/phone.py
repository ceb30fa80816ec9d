#!/usr/bin/env python3
"""The whole sign-in in Chromium against a real regentd with boxes that wait.

    phone.py PROGRAMS [--only STORY,STORY] [--times]

PROGRAMS is the folder with regentd and regentctl. Every page that a story meets is looked at: axe-core in both colour
schemes, the validator, nothing in the browser's log. Each story runs with script in English; those that matter most
run in all languages, without script, and over https, too.
"""

import argparse
import http.client
import http.server
import json
import pathlib
import ssl
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import pages
from service import PASSWORD, REQUESTOR, ROOT, Box, Service, until

LANGUAGES = ("en", "it", "es", "ko")
TEXTS = {tag: json.loads((ROOT / f"web/locales/{tag}.json").read_text()) for tag in LANGUAGES}
# What one page may weigh in all, at its first visit.
HEAVIEST = 60 * 1024


class Failure(Exception):
    """A story that did not go as told."""


class Phone:
    """A browser on somebody's sofa, in one language, with or without script."""

    # Each page is looked at once, whoever meets it first: what differs between services is tried without them.
    seen: set = set()

    def __init__(self, service, language="en", script=True, patient=True):
        self.service, self.language, self.script = service, language, script
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--hide-scrollbars", "--ignore-certificate-errors"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        if not patient:
            # Every command waits for the page to be whole otherwise.
            options.page_load_strategy = "none"
        self.driver = webdriver.Chrome(options=options, service=Driver("/usr/bin/chromedriver"))
        self.problems, self.sources = [], []
        self.taps = 0

    def fresh(self, language=None):
        """The same browser as if it had never been here."""
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
        """Taps, and waits for the page that follows."""
        self.taps += 1
        before = self.driver.find_element(By.CSS_SELECTOR, "html")
        self.one(selector).click()
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

    def expect(self, what, found, wanted):
        if found != wanted:
            raise Failure(f"{what}: {found!r} instead of {wanted!r}, on {self.driver.current_url}")

    def at(self, key, **values):
        """The page with this heading is there; looked at the first time."""
        wanted = self.text(key, **values)
        try:
            WebDriverWait(self.driver, 15).until(lambda _: self.heading() == wanted)
        except Exception:
            raise Failure(f"{wanted!r} does not come: {self.heading()!r} on {self.driver.current_url}") from None
        self.expect("lang", self.one("html").get_attribute("lang"), self.language)
        name = f"{key} {self.script} {self.driver.find_elements(By.CSS_SELECTOR, '.problem') != []}"
        if self.language == "en" and name not in self.seen:
            self.seen.add(name)
            self.look(key)

    def look(self, name):
        self.sources.append((name, self.driver.page_source))
        # Without script no promise of axe is ever kept.
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
        """What the browser wrote to its log, without what every page with an error status causes."""
        expected = ("Cross-Origin-Opener-Policy", "the server responded with a status of", "favicon", "Clear-Site-Data")
        return [entry["message"] for entry in self.driver.get_log("browser")
                if not any(part in entry["message"] for part in expected)]

    # What several stories begin with.

    def scan(self, code):
        """As the camera does it: the link in capitals. Without script one button opens the code."""
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
        """From the link to the page that compares, in a browser that is signed in nowhere."""
        self.scan(code)
        self.at("provider.title")
        self.tap("button[value=aurora]")
        self.sign_in(user)
        self.at("approve.title")


# The stories. Each begins in a browser that has never been here.


def typed_code(phone):
    """Typed with small letters: from the front page until the screen has its answer."""
    box = Box(phone.service)
    code = box.ask()
    box.wait()
    phone.open("/")
    phone.at("enter.title")
    phone.type("#code", code.lower())
    if phone.script:
        phone.expect("the dash", phone.one("#code").get_property("value"), f"{code[:4]}-{code[4:]}")
    phone.tap("main button.main")
    phone.at("provider.title")
    phone.expect("the box", box.look()["state"], "opened")
    phone.tap("button[value=aurora]")
    phone.sign_in()
    phone.at("approve.title")
    body = phone.one("main").text
    for part in (f"{code[:4]}-{code[4:]}", "Cinema Aperto", "Acme Lounge 7", "anna"):
        if part not in body:
            raise Failure(f"{part} is not on the page that compares")
    phone.expect("the box", box.look()["state"], "claimed")
    if phone.script:
        weigh(phone)
    phone.tap("button.approve")
    status, document = box.answer()
    phone.expect("the box's answer", (status, document and document["mvpd"]), (200, "aurora"))
    if not phone.script:
        phone.open(f"/D/{code}/result")
    phone.at("result.delivered.title")


def weigh(phone):
    """The page that compares with everything it names, headers too, as it travels at a first visit."""
    place = urllib.parse.urlsplit(phone.driver.current_url)
    cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in phone.driver.get_cookies())
    files = phone.driver.execute_script(
        "return [...document.querySelectorAll('link[href], script[src], img[src]')].map((e) => e.href || e.src)")
    weights = {}
    for address in [phone.driver.current_url] + files:
        if place.scheme == "https":
            trust = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection(place.hostname, place.port, timeout=20, context=trust)
        else:
            connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
        try:
            connection.request("GET", urllib.parse.urlsplit(address).path, headers={"Cookie": cookies})
            answer = connection.getresponse()
            head = sum(len(f"{name}: {value}\r\n") for name, value in answer.getheaders())
            phone.expect(f"the status of {address}", answer.status, 200)
            weights[address] = head + len(answer.read())
        finally:
            connection.close()
    kinds = [kind for kind in (".css", ".js", "/logos/", "favicon", ".webmanifest") if not any(kind in a for a in weights)]
    if kinds:
        raise Failure(f"the page that compares has no {kinds}")
    phone.weight = sum(weights.values())
    if phone.weight > HEAVIEST:
        raise Failure(f"the page that compares weighs {phone.weight} bytes: {weights}")


def scanned_link(phone):
    """With a live session: two taps and no typing."""
    phone.reach_approval(Box(phone.service).ask())
    box = Box(phone.service)
    code = box.ask()
    box.wait()
    phone.taps = 0
    phone.scan(code)
    phone.at("approve.title")
    phone.tap("button.approve")
    phone.expect("taps", phone.taps <= 2, True)
    phone.expect("the box's answer", box.answer()[0], 200)
    if phone.script:
        # It changes by itself, while somebody looks.
        phone.at("result.delivered.title")


def live_result(phone):
    """The page says so the moment the screen has its answer."""
    box = Box(phone.service)
    phone.reach_approval(box.ask())
    phone.tap("button.approve")
    phone.at("result.approved.title")
    phone.expect("the box's answer", box.signed_in()[0], 200)
    if not phone.script:
        phone.tap("main a.button")
    phone.at("result.delivered.title")


def wrong_code(phone):
    """The error says what is wrong, belongs to its field, and keeps what was typed."""
    for typed, problem in (("bcd", "wrong-length"), ("hello wd", "wrong-letters"), ("BCDF-GHJK", "unknown")):
        phone.open("/")
        phone.type("#code", typed)
        phone.tap("main button.main")
        phone.at("enter.title")
        phone.expect("the problem", phone.one("#code-problem").text, phone.text(f"enter.problem.{problem}"))
        field = phone.one("#code")
        phone.expect("aria-invalid", field.get_attribute("aria-invalid"), "true")
        phone.expect("described by", "code-problem" in field.get_attribute("aria-describedby"), True)
        phone.expect("focus", phone.driver.switch_to.active_element.get_attribute("id"), "code")
    phone.scan("BCDFGHJK")
    phone.at("notice.unknown-code.title")


def expired_code(phone):
    """A code whose time ran out, typed, scanned, and under the viewer's eyes."""
    box = Box(phone.service)
    code = box.ask(ttl=1)
    until("the code is over", lambda: box.signed_in()[0] != 404)
    phone.open("/")
    phone.type("#code", code)
    phone.tap("main button.main")
    phone.at("enter.title")
    phone.expect("the problem", phone.one("#code-problem").text, phone.text("enter.problem.expired"))
    phone.scan(code)
    phone.at("notice.expired.title")
    code = box.ask(ttl=8)
    phone.reach_approval(code)
    if phone.script:
        phone.shown("[data-time-nearly-over]")
    until("the code is over", lambda: box.signed_in()[0] != 404)
    phone.tap("button.approve")
    phone.at("notice.expired.title")
    phone.expect("the box's answer", box.signed_in()[0], 410)


def deny(phone):
    """A no, and the same with a report: the screen is told."""
    for reports in (False, True):
        phone.fresh()
        box = Box(phone.service)
        phone.reach_approval(box.ask())
        if reports:
            phone.one("summary").click()
            phone.tap("details button.deny")
            phone.at("notice.reported.title")
        else:
            phone.tap(".choices button.deny")
            phone.at("notice.denied.title")
        status, document = box.signed_in()
        phone.expect("the box's answer", (status, document["details"]), (403, "denied"))


def number(phone):
    """The number on the screen: right signs in, wrong ends the code."""
    for right in (True, False):
        phone.fresh()
        box = Box(phone.service)
        code = box.ask(match="number")
        phone.expect("no number yet", "match" in box.look(), False)
        phone.reach_approval(code)
        wanted = str(box.look()["match"])
        phone.tap("button.approve")
        phone.at("number.title")
        choices = [button.get_attribute("value") for button in phone.driver.find_elements(By.CSS_SELECTOR, ".numbers button")]
        phone.expect("three choices, the right one among them", (len(choices), wanted in choices), (3, True))
        pick = wanted if right else next(choice for choice in choices if choice != wanted)
        phone.tap(f".numbers button[value='{pick}']")
        phone.at("result.approved.title" if right else "notice.wrong-number.title")
        phone.expect("the box's answer", box.signed_in()[0], 200 if right else 403)


def family(phone):
    """Two phones, one code: the second one waits until the first lets go."""
    box = Box(phone.service)
    code = box.ask()
    phone.reach_approval(code)
    cookies = phone.driver.get_cookies()
    phone.fresh()
    phone.scan(code)
    phone.at("provider.title")
    phone.tap("button[value=aurora]")
    phone.sign_in("bruno")
    phone.at("notice.held.title")
    others = phone.driver.get_cookies()
    become(phone, cookies)
    phone.open(f"/D/{code}/approve")
    phone.at("approve.title")
    phone.tap("form.aside button.link")
    phone.at("provider.title")
    become(phone, others)
    phone.open(f"/D/{code}/approve")
    phone.at("approve.title")
    phone.tap("button.approve")
    phone.at("result.approved.title")
    phone.expect("the box's answer", box.signed_in()[0], 200)
    become(phone, cookies)
    phone.open(f"/D/{code}/result")
    phone.at("notice.used.title")


def race(phone):
    """Two phones come in the same moment, and one of them says yes and no at once: there is one answer, and it stays."""
    other = Phone(phone.service, script=phone.script)

    def together(act):
        """Lets two browsers go at once, each in a thread of its own, until both have their page."""
        gate, failed = threading.Barrier(2, timeout=20), []

        def go(one):
            try:
                gate.wait()
                act(one)
            except Exception:
                failed.append(traceback.format_exc())

        threads = [threading.Thread(target=go, args=(one,)) for one in (phone, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        if failed:
            raise Failure(failed[0])

    def answer(box):
        status, document = box.signed_in()
        return None if status == 404 else (status, document.get("details") or document.get("mvpd"))

    try:
        other.fresh(phone.language)
        for one, user in ((phone, "anna"), (other, "bruno")):
            one.reach_approval(Box(phone.service).ask(), user)
        compare, held = phone.text("approve.title"), phone.text("notice.held.title")
        for _ in range(6):
            box = Box(phone.service)
            code = box.ask()
            together(lambda one: one.open(f"/D/{code}"))
            until("both pages", lambda: all(one.heading() in (compare, held) for one in (phone, other)))
            phone.expect("one has the code", sorted(one.heading() for one in (phone, other)), sorted((compare, held)))
            winner, loser = (phone, other) if phone.heading() == compare else (other, phone)
            # The one that has it says no in one tab and yes in another.
            first, page = winner.driver.current_window_handle, winner.driver.current_url
            winner.driver.switch_to.new_window("tab")
            winner.open(page)
            winner.at("approve.title")
            for delay, button in ((50, ".choices button.deny"), (20, "button.approve")):
                winner.driver.execute_script(
                    "setTimeout((one) => document.querySelector(one).click(), arguments[0], arguments[1])", delay, button)
                winner.driver.switch_to.window(first)
            said = until("the box's answer", lambda: answer(box))
            phone.expect("yes or no", said in ((200, "aurora"), (403, "denied")), True)
            # Whatever it was, the other phone has no part in it.
            loser.open(f"/D/{code}/approve")
            phone.expect("nothing to approve", loser.heading() == compare, False)
            phone.expect("the same answer again", answer(box), said)
            for window in winner.driver.window_handles:
                if window != first:
                    winner.driver.switch_to.window(window)
                    winner.driver.close()
            winner.driver.switch_to.window(first)
    finally:
        other.driver.quit()


def become(phone, cookies):
    phone.driver.delete_all_cookies()
    for cookie in cookies:
        phone.driver.add_cookie(cookie)


def screens(phone):
    """My screens: names, one out, all out; the password; this phone out."""
    user = f"user-{phone.language}-{phone.script}".lower()
    phone.service.control("account", "add", "aurora", user, text=PASSWORD + "\n")
    boxes = [Box(phone.service, model) for model in ("Lounge 7", "Kitchen 3", "Attic 1")]
    phone.reach_approval(boxes[0].ask(), user)
    phone.tap("button.approve")
    for box in boxes[1:]:
        phone.scan(box.ask())
        phone.at("approve.title")
        phone.tap("button.approve")
    for box in boxes:
        phone.expect("the box's answer", box.signed_in()[0], 200)
    phone.open("/screens")
    phone.at("screens.title")
    phone.expect("screens", len(phone.driver.find_elements(By.CSS_SELECTOR, ".screens > li")), 3)

    def card(name):
        return next(item for item in phone.driver.find_elements(By.CSS_SELECTOR, ".screens > li")
                    if item.find_element(By.CSS_SELECTOR, "h2").text == name)

    def follow(name, place):
        before = phone.one("html")
        card(name).find_elements(By.CSS_SELECTOR, "a.button")[place].click()
        phone.gone(before)

    follow("Acme Kitchen 3", 0)
    phone.at("rename.title")
    field = phone.one("#name")
    field.clear()
    phone.type("#name", "Küche")
    phone.tap("main button.main")
    phone.at("screens.title")
    phone.expect("said", phone.one("p.done").text, phone.text("screens.done.renamed"))
    follow("Küche", 1)
    phone.at("confirm.screen.title")
    phone.tap("main button.main")
    phone.at("screens.title")
    phone.expect("the box's answer", boxes[1].signed_in()[0], 404)
    phone.expect("the others'", boxes[0].signed_in()[0], 200)
    phone.tap("a[href$='/screens/sign-out']")
    phone.at("confirm.all.title")
    phone.tap("main button.main")
    phone.at("screens.title")
    phone.expect("the box's answer", boxes[0].signed_in()[0], 404)
    phone.tap("a[href$='/password']")
    phone.at("password.title")
    for current, new, problem in (("wrong", "another long password", "wrong-current"), (PASSWORD, "short", "too-short")):
        phone.type("#current", current)
        phone.type("#new", new)
        phone.tap("main button.main")
        phone.at("password.title")
        phone.expect("the problem", phone.one("#problem").text, phone.text(f"password.problem.{problem}"))
    phone.type("#current", PASSWORD)
    phone.type("#new", "another long password")
    phone.tap("main button.main")
    phone.at("screens.title")
    phone.tap(".account-box a[href$='/sign-out']")
    phone.at("confirm.phone.title")
    phone.tap("main button.main")
    phone.at("notice.signed-out.title")
    phone.open("/screens")
    phone.sign_in(user)
    phone.expect("the old password", phone.one("#problem").text, phone.text("sign-in.problem.refused"))
    phone.type("#password", "another long password")
    phone.tap("main button.main")
    phone.at("screens.title")


def keyboard(phone):
    """The whole way with the keyboard alone: what has the focus can be seen, and nothing traps it."""
    def press(*keys):
        phone.driver.switch_to.active_element.send_keys(*keys)

    def reach(selector):
        for _ in range(40):
            press(Keys.TAB)
            focus = phone.driver.switch_to.active_element
            if focus.tag_name == "body":
                continue
            seen = phone.driver.execute_script("""
                const box = arguments[0].getBoundingClientRect(), style = getComputedStyle(arguments[0]);
                const x = box.left + box.width / 2, y = box.top + box.height / 2;
                const top = document.elementFromPoint(x, y);
                return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2
                  && box.top >= 0 && box.bottom <= innerHeight && (top === arguments[0] || arguments[0].contains(top));
                """, focus)
            if not seen:
                raise Failure(f"the focus cannot be seen: {focus.get_attribute('outerHTML')[:90]}")
            if phone.driver.execute_script("return arguments[0].matches(arguments[1])", focus, selector):
                return
        raise Failure(f"the keyboard does not reach {selector}")

    def follow(key):
        before = phone.one("html")
        press(key)
        phone.gone(before)

    box = Box(phone.service)
    code = box.ask()
    phone.open("/")
    phone.at("enter.title")
    reach(".skip")
    press(Keys.ENTER)
    phone.expect("the focus", phone.driver.switch_to.active_element.get_attribute("id"), "main")
    reach("#code")
    press(code)
    follow(Keys.ENTER)
    phone.at("provider.title")
    reach("button[value=aurora]")
    follow(Keys.SPACE)
    phone.at("sign-in.title", provider="Aurora TV")
    reach("#user")
    press("anna")
    reach("#password")
    press("wrong")
    follow(Keys.ENTER)
    # After a mistake the focus is where it is mended.
    WebDriverWait(phone.driver, 10).until(
        lambda driver: driver.switch_to.active_element.get_attribute("id") == "password", "no focus on the password")
    press(PASSWORD)
    follow(Keys.ENTER)
    phone.at("approve.title")
    reach("summary")
    press(Keys.ENTER)
    phone.shown("details button.deny")
    phone.driver.execute_script("document.activeElement.blur(); document.body.tabIndex = -1; document.body.focus()")
    reach("button.approve")
    follow(Keys.ENTER)
    phone.at("result.approved.title")
    phone.expect("the box's answer", box.signed_in()[0], 200)


def way_back_is_shut(phone):
    """After signing out the browser's way back shows nothing of the account."""
    phone.open("/screens")
    phone.sign_in()
    phone.at("screens.title")
    phone.open("/sign-out")
    phone.at("confirm.phone.title")
    phone.tap("main button.main")
    phone.at("notice.signed-out.title")
    seen = []
    for _ in range(3):
        phone.driver.back()
        # Script takes a kept page away and asks for it anew: nothing is shown meanwhile.
        WebDriverWait(phone.driver, 15).until(lambda _: phone.heading(), "no page on the way back")
        seen.append(f"{phone.driver.current_url}: {phone.heading()}")
        if "anna" in phone.one("body").text or phone.heading() == phone.text("screens.title"):
            raise Failure(f"the way back shows the account: {seen}")
    if phone.script and not any("/sign-in" in place for place in seen):
        raise Failure(f"the way back never came to the page of screens: {seen}")


def no_frame(phone):
    """A page elsewhere cannot show ours in a frame, where a tap could be stolen."""
    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!DOCTYPE html><title>elsewhere</title><iframe src='{phone.service.url}/'></iframe>".encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        phone.open(f"http://127.0.0.1:{server.server_address[1]}/")
        phone.driver.switch_to.frame(phone.one("iframe"))
        found = phone.driver.find_elements(By.CSS_SELECTOR, "#code, #main, form")
        phone.driver.switch_to.default_content()
        phone.expect("forms in the frame", len(found), 0)
        refused = [entry["message"] for entry in phone.driver.get_log("browser") if "frame" in entry["message"].lower()]
        if not refused:
            raise Failure("the browser does not say that it refused the frame")
    finally:
        phone.driver.switch_to.default_content()
        server.shutdown()


def paints_first(phone):
    """The page is painted while the script is still on its way."""
    painted = threading.Event()
    place = urllib.parse.urlsplit(phone.service.url)

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path.endswith(".js"):
                painted.wait(30)
            inside = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
            inside.request("GET", self.path, headers={"Host": place.netloc})
            answer = inside.getresponse()
            body = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    other = Phone(phone.service, patient=False)
    try:
        other.fresh()
        other.open(f"http://127.0.0.1:{server.server_address[1]}/")
        WebDriverWait(other.driver, 30).until(lambda driver: driver.execute_script(
            "return location.protocol === 'http:' && performance.getEntriesByName('first-contentful-paint').length > 0"),
            "the first paint waits for the script")
        other.expect("whole", other.driver.execute_script("return document.readyState === 'complete'"), False)
        painted.set()
        WebDriverWait(other.driver, 30).until(
            lambda driver: driver.execute_script("return document.readyState") == "complete", "the page is never whole")
    finally:
        painted.set()
        other.driver.quit()
        server.shutdown()


def guest(phone):
    """A temporary provider asks nobody who they are."""
    box = Box(phone.service)
    phone.scan(box.ask())
    phone.at("provider.title")
    phone.tap("button[value=pass]")
    phone.at("approve.title")
    phone.tap("button.approve")
    phone.at("result.approved.title")
    status, document = box.signed_in()
    phone.expect("the box's answer", (status, document["mvpd"]), (200, "pass"))


def language_switch(phone):
    """A visible switch; it stays on the page, and stays chosen."""
    phone.open("/")
    for tag in LANGUAGES[1:] + LANGUAGES[:1]:
        phone.tap(f"button[name=language][value={tag}]")
        phone.language = tag
        phone.at("enter.title")
    phone.tap("button[name=language][value=ko]")
    phone.language = "ko"
    phone.open("/nowhere")
    phone.at("notice.not-found.title")
    phone.language = "en"


def way_back(phone):
    """A programmer's page sends the browser here and gets it back: the policy of our pages lets it go."""
    arrived = []

    class Done(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            arrived.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>done</title>")

        def log_message(self, *_):
            pass

    # Browsers open connections that they may never use: one thread would wait a minute for the first of them.
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Done)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        back = f"http%3A%2F%2F127.0.0.1%3A{server.server_address[1]}%2Fdone"
        box = Box(phone.service)
        phone.open(
            f"/api/v1/authenticate?reg_code={box.ask()}&requestor_id={REQUESTOR}&mso_id=aurora"
            f"&domain_name=example.com&noflash=true&no_iframe=true&redirect_url={back}")
        if not phone.script:
            phone.tap("main form button.main")
        phone.sign_in()
        phone.at("approve.title")
        phone.tap("button.approve")
        WebDriverWait(phone.driver, 10).until(lambda driver: driver.title == "done", "the browser did not go back")
        phone.expect("the box's answer", box.signed_in()[0], 200)
        phone.open(f"/logout?requestor_id={REQUESTOR}&redirect_url={back}")
        phone.at("confirm.phone.title")
        phone.tap("main button.main")
        WebDriverWait(phone.driver, 10).until(lambda driver: driver.title == "done", "the browser did not go back")
        phone.expect("arrived", [path for path in arrived if path == "/done"], ["/done", "/done"])
    finally:
        server.shutdown()


EVERYTHING = (
    typed_code, scanned_link, live_result, wrong_code, expired_code, deny, number, family, race, screens, guest,
    language_switch, way_back, keyboard, way_back_is_shut, no_frame, paints_first)
IN_ALL_LANGUAGES = (typed_code, number, screens)
WITHOUT_SCRIPT = (typed_code, scanned_link, live_result, wrong_code, deny, number, screens, guest, way_back, way_back_is_shut)
OVER_HTTPS = (typed_code, scanned_link, screens, way_back_is_shut)
BELOW_A_PATH = (typed_code, scanned_link, screens, language_switch)


def runs():
    """Which service, with script or without, in which language, which stories."""
    yield "", True, "en", EVERYTHING
    for tag in LANGUAGES[1:]:
        yield "", True, tag, IN_ALL_LANGUAGES
    yield "", False, "en", WITHOUT_SCRIPT
    yield "https", True, "en", OVER_HTTPS
    yield "below /tv", True, "en", BELOW_A_PATH
    yield "below /tv, which the proxy takes away", False, "en", BELOW_A_PATH[:2]


def start(programs, kind):
    if kind.startswith("below"):
        return Service(programs, proxy="strips" if "takes" in kind else "keeps")
    return Service(programs, https=kind == "https")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--times", action="store_true", help="say how long each story took")
    arguments = parser.parse_args()
    problems, told, sources = [], 0, []
    services, phones = {}, {}
    try:
        for kind, script, language, stories in runs():
            stories = [story for story in stories if not arguments.only or story.__name__ in arguments.only]
            if not stories:
                continue
            if kind not in services:
                services[kind] = start(arguments.programs, kind)
            if (kind, script) not in phones:
                phones[kind, script] = Phone(services[kind], script=script)
            phone = phones[kind, script]
            for story in stories:
                where = f"{story.__name__} ({language}{'' if script else ', no script'}{kind and ', ' + kind})"
                began = time.monotonic()
                told += 1
                try:
                    phone.fresh(language)
                    story(phone)
                except Exception as error:
                    detail = str(error) if isinstance(error, Failure) else traceback.format_exc()
                    problems.append(f"{where}: {detail}")
                if arguments.times:
                    print(f"{time.monotonic() - began:6.1f} s  {where}", flush=True)
                problems += [f"{where}: {problem}" for problem in phone.problems]
                problems += [f"{where}: browser: {message}" for message in phone.complaints()]
                phone.problems = []
    finally:
        for phone in phones.values():
            sources += phone.sources
            phone.driver.quit()
        for service in services.values():
            if code := service.stop():
                problems.append(f"regentd ended with {code}")
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for place, (name, source) in enumerate(sources):
            file = pathlib.Path(folder, f"{place}-{name}.html")
            file.write_text("<!DOCTYPE html>\n" + source if not source.startswith("<!") else source)
            names.append(file.name)
        problems += pages.check_markup(pathlib.Path(folder), names)
    for problem in problems:
        print(problem)
    print(f"{told} stories, {len(sources)} pages looked at: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
