"""The two protocols that drive the browsers: W3C WebDriver over HTTP, and Firefox's Marionette over TCP.

Both have the same commands and parameters. Debian has no geckodriver, which translates between them.
"""

import http.client
import json
import socket

# command: (HTTP method, HTTP path, Marionette name)
COMMANDS = {
    "navigate": ("POST", "/url", "WebDriver:Navigate"),
    "address": ("GET", "/url", "WebDriver:GetCurrentURL"),
    "back": ("POST", "/back", "WebDriver:Back"),
    "reload": ("POST", "/refresh", "WebDriver:Refresh"),
    "run": ("POST", "/execute/sync", "WebDriver:ExecuteScript"),
    "source": ("GET", "/source", "WebDriver:GetPageSource"),
    "act": ("POST", "/actions", "WebDriver:PerformActions"),
    "release": ("DELETE", "/actions", "WebDriver:ReleaseActions"),
    "new tab": ("POST", "/window/new", "WebDriver:NewWindow"),
    "tabs": ("GET", "/window/handles", "WebDriver:GetWindowHandles"),
    "switch": ("POST", "/window", "WebDriver:SwitchToWindow"),
    "close": ("DELETE", "/window", "WebDriver:CloseWindow"),
    "resize": ("POST", "/window/rect", "WebDriver:SetWindowRect"),
    "cookies": ("GET", "/cookie", "WebDriver:GetCookies"),
    "add cookie": ("POST", "/cookie", "WebDriver:AddCookie"),
    "delete cookies": ("DELETE", "/cookie", "WebDriver:DeleteAllCookies"),
    "accept": ("POST", "/alert/accept", "WebDriver:AcceptAlert"),
    "devtools": ("POST", "/goog/cdp/execute", None),
    "context": (None, None, "Marionette:SetContext"),
}
# Longer than any command and any start of a browser; ends commands that hang.
SECONDS, START = 12, 60
# In milliseconds. Without it a script whose page has ended would never be answered.
TIMEOUTS = {"script": 5000}


class CommandFailed(Exception):
    """The browser refused a command."""


class Hung(Exception):
    """The driver does not answer."""


class WebDriver:
    """A session with a driver that listens on this loopback port."""

    def __init__(self, port, capabilities):
        self.port, self.path, self.seconds = port, "", START
        self.path = "/session/" + self.request(
            "POST", "/session", {"capabilities": {"alwaysMatch": {**capabilities, "timeouts": TIMEOUTS}}})["sessionId"]
        self.seconds = SECONDS

    def request(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.seconds)
        try:
            text = json.dumps(body or {}) if method == "POST" else None
            connection.request(method, self.path + path, text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            value = json.loads(answer.read())["value"]
        except TimeoutError:
            raise Hung(f"no answer to {method} {path} {text and text[:80]} in {self.seconds} s") from None
        finally:
            connection.close()
        if answer.status != 200:
            raise CommandFailed(f"{method} {path}: {value.get('error')}: {value.get('message')}")
        return value

    def command(self, name, **parameters):
        method, path, _ = COMMANDS[name]
        return self.request(method, path, parameters)

    def quit(self):
        self.request("DELETE", "")


class Marionette:
    """A session with Firefox. A message consists of its length, a colon and JSON."""

    def __init__(self, port, capabilities):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=START)
        self.input, self.count = self.socket.makefile("rb"), 0
        self.message()  # The greeting.
        self.request("WebDriver:NewSession", {**capabilities, "timeouts": TIMEOUTS})
        self.socket.settimeout(SECONDS)

    def message(self):
        digits = b""
        while not digits.endswith(b":"):
            byte = self.input.read(1)
            if not byte:
                raise CommandFailed("Firefox closed the connection")
            digits += byte
        return json.loads(self.input.read(int(digits[:-1])))

    def request(self, name, parameters):
        self.count += 1
        text = json.dumps([0, self.count, name, parameters]).encode()
        try:
            self.socket.sendall(b"%d:%s" % (len(text), text))
            _, _, error, result = self.message()
        except TimeoutError:
            raise Hung(f"no answer to {name} {text[:80]}") from None
        if error:
            raise CommandFailed(f"{name}: {error['error']}: {error['message']}")
        return result["value"] if isinstance(result, dict) and list(result) == ["value"] else result

    def command(self, name, **parameters):
        return self.request(COMMANDS[name][2], parameters)

    def quit(self):
        self.request("Marionette:Quit", {"flags": ["eForceQuit"]})
        self.socket.close()
