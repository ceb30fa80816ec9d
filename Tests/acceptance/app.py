#!/usr/bin/env python3
"""An app on a box with a browser: the SDK starts Chromium by itself, as `EnablerConfiguration.browser` says.

    app.py PROGRAMS

PROGRAMS is the folder with regentd, regentctl and SDKProbe. The provider demands a secure sheet, which the app cannot
show. So the SDK starts a real Chromium with the page for signing in and for signing out, and the browser returns to the
app by itself. Only the viewer's clicks come through the debugging port.
"""

import argparse
import pathlib
import select
import socket
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from browser import click
from service import PASSWORD, PATIENCE, REQUESTOR, Service, until

CHROMIUM = ["/usr/bin/chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--remote-debugging-port=0"]


class App:
    """Runs `SDKProbe browser` and checks the lines that it prints."""

    def __init__(self, service, profile):
        key = service.key
        self.process = subprocess.Popen(
            [service.programs / "SDKProbe", "browser", service.url, REQUESTOR, key["publicKey"], key["secret"], "sheet",
             *CHROMIUM, f"--user-data-dir={profile}"],
            env={"HOME": str(profile), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def says(self, wanted):
        ready = select.select([self.process.stdout], [], [], PATIENCE)[0]
        line = self.process.stdout.readline().rstrip("\n") if ready else f"nothing within {PATIENCE} s"
        if line != wanted:
            raise SystemExit(f"the app says {line!r} instead of {wanted!r}")

    def goes_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()


class Viewer:
    """A viewer who uses the Chromium that the SDK has started."""

    def __init__(self, profile):
        self.port_file = pathlib.Path(profile, "DevToolsActivePort")
        self.number = until("the SDK starts a browser", self.port)
        options = Options()
        options.debugger_address = f"127.0.0.1:{self.number}"
        self.driver = webdriver.Chrome(options=options, service=Driver("/usr/bin/chromedriver"))

    def port(self):
        try:
            lines = self.port_file.read_text().split("\n")
        except FileNotFoundError:
            return None
        # Chromium writes the second line last.
        return lines[0] if len(lines) > 1 and lines[1] else None

    def one(self, selector):
        return WebDriverWait(self.driver, PATIENCE).until(
            lambda driver: next(iter(driver.find_elements(By.CSS_SELECTOR, selector)), None), selector)

    def taps(self, selector):
        click(lambda: self.one(selector))

    def types(self, selector, text):
        self.one(selector).send_keys(text)

    def is_at(self, end):
        WebDriverWait(self.driver, PATIENCE).until(
            lambda driver: driver.current_url.split("?")[0].endswith(end), f"the browser does not come to {end}")

    def is_in(self, service):
        """Whether this browser has a session at the service."""
        self.driver.get(service.url + "/")
        return any(cookie["name"].endswith("session") for cookie in self.driver.get_cookies())

    def closes(self):
        """Closes the browser as its user does, so that its profile is on disk afterwards."""
        try:
            self.driver.execute_cdp_cmd("Browser.close", {})
        except WebDriverException:
            pass  # The page that should respond is gone with the browser.
        self.driver.quit()
        until("the browser is closed", lambda: not self.listens())
        self.port_file.unlink(missing_ok=True)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", int(self.number)), timeout=PATIENCE).close()
            return True
        except OSError:
            return False


def signs_in_and_out(service, profile):
    app = App(service, profile)
    try:
        viewer = Viewer(profile)
        viewer.one("form")
        if viewer.driver.find_elements(By.CSS_SELECTOR, "#user") == []:
            # The page that opens the code, which every browser gets that follows the link.
            viewer.taps("main form button.main")
        viewer.types("#user", "anna")
        viewer.types("#password", PASSWORD)
        viewer.taps("main button.main")
        viewer.taps("button.approve")
        viewer.is_at("/done")
        app.says("signed in at sheet")
        if not viewer.is_in(service):
            raise SystemExit("the browser has no session to end")
        viewer.closes()
        app.goes_on()
        # Needs no tap: the page redirects the browser as soon as it has signed out.
        app.says("signed out, nobody is in")
        viewer = Viewer(profile)
        viewer.is_at("/done")
        if viewer.is_in(service):
            raise SystemExit("the browser is still signed in")
        viewer.closes()
        if code := app.process.wait(timeout=PATIENCE):
            raise SystemExit(f"the app ends with {code}")
    finally:
        app.process.kill()
        app.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=lambda text: pathlib.Path(text).resolve())
    arguments = parser.parse_args()
    service = Service(arguments.programs)
    try:
        service.control("provider", "add", "sheet", "--name", "Sheet TV", "--kind", "local", "--secure-sheet", "on")
        service.control("integrate", REQUESTOR, "sheet")
        service.control("account", "add", "sheet", "anna", text=PASSWORD + "\n")
        # Chromium still writes to its profile for a moment after it was told to end.
        with tempfile.TemporaryDirectory(prefix="regent-app-", ignore_cleanup_errors=True) as profile:
            signs_in_and_out(service, profile)
    finally:
        code = service.stop()
    if code:
        raise SystemExit(f"regentd ended with {code}")
    print("an app signs in and out in a browser that the SDK starts")


if __name__ == "__main__":
    sys.exit(main())
