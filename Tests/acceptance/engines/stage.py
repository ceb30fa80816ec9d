"""The setting of a browser test: a new box and a new account, and what the service recorded about them."""

import itertools
import json
import time

from engines.viewer import Viewer
from service import PASSWORD, WEB, Box, Failure

# Lines of the audit log that are not decisions.
IGNORED = ("session.start", "account.add")


class Scene:
    """The page at which a test begins, and the browser's cookies there."""

    def __init__(self, stage, user=None, **query):
        self.stage, self.user = stage, user
        self.box = stage.box()
        self.code = self.box.ask(**query) if query.pop("asks", True) else None
        self.viewer = Viewer(stage.service)
        if user and user == stage.user:
            self.viewer.jar = dict(stage.jar)
        elif user:
            self.viewer.sign_in_without_code(user)
        self.others, self.fill, self.before, self.path, self.seen = [], {}, (), "/", 0

    def at(self, path):
        self.path = path.format(code=self.code)
        return self

    def scanned(self):
        """Opens the code in this browser."""
        self.viewer.scan(self.code)
        self.path = self.viewer.path
        return self

    def approved(self):
        """Signs in this box and another one."""
        for box in (self.box, self.stage.box()):
            self.viewer.scan(self.code if box is self.box else box.ask()).press({"class": "approve"})
            if box.signed_in()[0] != 200:
                raise Failure(f"the box is not signed in: {self.viewer.page.heading!r}")
            self.others.append(box)
        return self

    def screen(self, action):
        """Goes to the first screen's page with this action."""
        links = [one for one in self.viewer.get("/screens").page.links if one.endswith(action) and one.count("/") == 3]
        self.path = links[0]
        return self

    def actions(self):
        """The decisions in the audit log about this box and by this account since the mark, oldest first."""
        return [line["action"] for line in self.audit() if line["number"] > self.seen and line["action"] not in IGNORED
                and (line["actor"] == f"viewer aurora/{self.user}" or self.box.model in line.get("detail", ""))]

    def audit(self):
        return self.stage.service.control("audit", "tail", "--lines", "600", "--json")

    def mark(self):
        """Sets the mark: `actions` returns only what happens after it."""
        self.seen = self.audit()[-1]["number"]

    def state(self):
        """The state that the box sees: the status of its poll, or the state of its code while it waits."""
        status = self.box.signed_in()[0]
        state = self.box.look()["state"] if status == 404 and self.code else "delivered"
        return status if state == "delivered" else state


class Stage:
    """One browser and one service, and what successive tests there share."""

    numbers = itertools.count(1)

    def __init__(self, engine, service):
        self.engine, self.service = engine, service
        # Scenes that a test has left as they were, by the name of their case; and a viewer who is signed in.
        self.scenes, self.user, self.jar = {}, None, None
        # What the last test measured about its taps.
        self.timing = ""

    def known(self):
        """The name of an account that is signed in already, so that not every test needs a new one."""
        if not self.user:
            user = self.account()
            self.jar = Viewer(self.service).sign_in_without_code(user).jar
            self.user = user
        return self.user

    def account(self):
        name = f"viewer-{next(self.numbers)}"
        self.service.control("account", "add", "aurora", name, text=PASSWORD + "\n")
        return name

    def box(self):
        model = f"Model-{next(self.numbers)}-"
        box = Box(self.service, model)
        box.model = model
        return box

    def enter(self, scene):
        """Opens the scene's page in the browser and fills its fields; gives the page."""
        self.engine.become(self.service, scene.viewer.cookies())
        self.engine.open(self.service.url + scene.path)
        page = self.engine.arrive(self.service.url + scene.path)
        self.fill(scene)
        return page

    def fill(self, scene):
        for selector in scene.before:
            self.engine.tap(selector)
        for selector, text in scene.fill.items():
            self.engine.type(selector, text)


def settled(wanted, found, seconds=4):
    """The first value of `found` that is wanted, otherwise the last one."""
    end = time.monotonic() + seconds
    while True:
        value = found()
        if value == wanted or time.monotonic() > end:
            return value
        time.sleep(0.1)


TEXTS = json.loads((WEB / "locales/en.json").read_text())


def heading(key):
    """The English heading of a page; its key in the texts is such as `approve.title`."""
    return TEXTS.get(key, key).replace("{provider}", "Aurora TV")
