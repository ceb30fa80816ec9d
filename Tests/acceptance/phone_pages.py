"""Stories about pages, each with a phone without cookies: my screens, the keyboard, languages, the back button."""

import http.client
import http.server
import threading
import urllib.parse

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browser import LANGUAGES, Phone, click
from service import PASSWORD, REQUESTOR, Box, Failure


def screens(phone):
    """My screens: rename one, sign one out, sign all out; change the password; sign this phone out."""
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
        click(lambda: card(name).find_elements(By.CSS_SELECTOR, "a.button")[place])
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
    """The whole sign-in with only the keyboard: the focus is always visible and never trapped."""
    def press(*keys):
        phone.driver.switch_to.active_element.send_keys(*keys)

    def reach(selector):
        phone.rested()
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
    phone.focused("main")
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
    # After an error the focus is on the field to correct.
    phone.focused("password")
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
    """After the sign-out the back button shows nothing of the account."""
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
        # The script hides a cached page and loads it again; nothing is shown meanwhile.
        WebDriverWait(phone.driver, 15).until(lambda _: phone.heading(), "no page on the way back")
        seen.append(f"{phone.driver.current_url}: {phone.heading()}")
        if "anna" in phone.one("body").text or phone.heading() == phone.text("screens.title"):
            raise Failure(f"the way back shows the account: {seen}")
    if phone.script and not any("/sign-in" in place for place in seen):
        raise Failure(f"the way back never came to the page of screens: {seen}")


def no_frame(phone):
    """Another site cannot show our pages in a frame, where it could steal a tap."""
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
    """The page is painted while the script is still loading."""
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
    """A temporary provider asks for no account."""
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
    """A visible menu of languages; it stays on the page, and the choice is kept."""
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
    """A programmer's page sends the browser here and gets it back; our content security policy must allow that."""
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

    # Several threads, because browsers open connections that they may never use, and one thread would wait for the
    # first.
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
