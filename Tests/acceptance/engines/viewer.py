"""A viewer's earlier steps without a browser: the pages' forms over HTTP. A browser then continues with the cookies."""

import html.parser
import http.cookies
import urllib.parse

from service import PASSWORD, Failure, connected


class Forms(html.parser.HTMLParser):
    """The forms of a page: the target, the hidden fields and the buttons of each."""

    def __init__(self, text):
        super().__init__()
        self.forms, self.links, self.heading, self.in_heading = [], [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.in_heading = tag == "h1" and not self.heading
        if tag == "form":
            self.forms.append((values.get("action", ""), {}, []))
        elif tag == "input" and values.get("type") == "hidden" and self.forms:
            self.forms[-1][1][values["name"]] = values.get("value", "")
        elif tag == "a":
            self.links.append(values.get("href", ""))
        elif tag == "button" and self.forms:
            self.forms[-1][2].append(values)

    def handle_data(self, data):
        if self.in_heading:
            self.heading += data.strip()


class Viewer:
    """The cookies of a browser, and its page."""

    def __init__(self, service):
        self.service, self.jar = service, {}
        self.path, self.page = "/", None

    def request(self, method, path, fields=None):
        """Sends a request, follows redirects and parses the page at the end."""
        place = urllib.parse.urlsplit(self.service.url)
        for _ in range(10):
            connection = connected(place, timeout=30)
            try:
                body = urllib.parse.urlencode(fields) if method == "POST" else None
                headers = {"Cookie": "; ".join(f"{name}={one['value']}" for name, one in self.jar.items()),
                           "Accept": "text/html", "Accept-Language": "en", "Origin": self.service.url,
                           "Content-Type": "application/x-www-form-urlencoded"}
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                text = answer.read().decode()
            finally:
                connection.close()
            for line in answer.headers.get_all("Set-Cookie") or []:
                self.keep(line)
            if answer.status not in (302, 303):
                break
            method, path = "GET", answer.headers["Location"]
        self.path, self.page = path, Forms(text)
        return self

    def keep(self, line):
        for name, found in http.cookies.SimpleCookie(line).items():
            if found["max-age"] == "0":
                self.jar.pop(name, None)
                continue
            self.jar[name] = {
                "name": name, "value": found.value, "path": "/", "secure": bool(found["secure"]), "httpOnly": True,
                "sameSite": found["samesite"] or "Lax"}

    def get(self, path):
        return self.request("GET", path)

    def press(self, button, **fields):
        """Sends the first form that has a button with these attributes."""
        for action, hidden, buttons in self.page.forms:
            for one in buttons:
                if button.items() <= one.items():
                    sent = {one["name"]: one.get("value", "")} if "name" in one else {}
                    return self.request("POST", action, {**hidden, **sent, **fields})
        raise Failure(f"no button {button} on {self.path}: {self.page.heading!r}")

    # The steps of a code

    def scan(self, code):
        return self.get(f"/D/{code}").press({"class": "main"})

    def choose(self, provider="aurora"):
        return self.press({"value": provider})

    def sign_in(self, user, password=PASSWORD):
        return self.press({"class": "main"}, user=user, password=password)

    def sign_in_without_code(self, user):
        """Signs in at the page of screens, which needs an account."""
        self.get("/screens")
        if self.path.startswith("/sign-in?"):
            self.choose()
        self.sign_in(user)
        if self.path != "/screens":
            raise Failure(f"{user} is not signed in but on {self.path}: {self.page.heading!r}")
        return self

    def copy(self):
        other = Viewer(self.service)
        other.jar = dict(self.jar)
        return other

    def cookies(self):
        return list(self.jar.values())

    def is_signed_in(self):
        return self.get("/screens").path == "/screens"
