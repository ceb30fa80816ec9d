"""The whole journey, each step a tap in the browser: open the link, sign in, compare, decide, and read the result."""

import time

from engines.stage import heading
from service import PASSWORD, Failure, until


def expect(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what}: {found!r} instead of {wanted!r}")


class Journey:
    """One code and one viewer, who is not signed in yet."""

    def __init__(self, stage, **query):
        self.stage, self.engine, self.user = stage, stage.engine, stage.account()
        self.box = stage.box()
        self.code = self.box.ask(**query)
        self.engine.become(stage.service, [])

    def at(self, *keys, **more):
        return self.engine.at(*map(heading, keys), **more)

    def reach_sign_in(self):
        self.engine.open(f"{self.stage.service.url}/D/{self.code}")
        if not self.engine.script:
            self.at("scanned.title")
            self.engine.press("main form button")
        self.at("provider.title")
        self.engine.press("button[value=aurora]")
        self.at("sign-in.title")

    def fill(self):
        self.engine.type("#user", self.user)
        self.engine.type("#password", PASSWORD)

    def sign_in(self):
        self.fill()
        self.engine.press("button.main")
        page = self.at("approve.title")
        if self.code not in page["text"].replace("-", ""):
            raise Failure(f"the page to compare does not show the code {self.code}: {page['text']}")

    def approve(self):
        self.engine.press("button.approve")
        self.at("result.approved.title", "result.delivered.title")
        expect("the box", self.box.signed_in()[0], 200)


def approve(stage):
    journey = Journey(stage)
    journey.reach_sign_in()
    journey.sign_in()
    expect("the code before the decision", journey.box.look()["state"], "claimed")
    journey.approve()
    if not stage.engine.script:
        stage.engine.press("[data-refresh] a")
    journey.at("result.delivered.title")


def number(stage):
    journey = Journey(stage, match="number")
    journey.reach_sign_in()
    journey.sign_in()
    stage.engine.press("button.approve")
    journey.at("number.title")
    stage.engine.type("#number", str(journey.box.look()["match"]))
    stage.engine.press("main button.approve")
    journey.at("result.approved.title", "result.delivered.title")
    expect("the box", journey.box.signed_in()[0], 200)


def none_of_these(stage):
    """The screen shows no number: the page asks once more before it reports the code."""
    journey = Journey(stage, match="number")
    journey.reach_sign_in()
    journey.sign_in()
    stage.engine.press("button.approve")
    journey.at("number.title")
    stage.engine.press(".deny")
    journey.at("report.title")
    expect("the box", journey.box.signed_in()[0], 404)
    stage.engine.press("button.deny")
    journey.at("notice.reported.title")
    expect("the box", journey.box.signed_in()[0], 403)


def deny(stage):
    journey = Journey(stage)
    journey.reach_sign_in()
    journey.sign_in()
    stage.engine.press(".choices button.deny")
    journey.at("notice.denied.title")
    expect("the box", journey.box.signed_in()[0], 403)


def back(stage):
    """The viewer goes back from "Is this your screen?" and signs in again."""
    journey = Journey(stage)
    journey.reach_sign_in()
    journey.sign_in()
    stage.engine.back()
    # Firefox and Chromium load the sign-in page again; over plain http WebKit keeps it.
    page = stage.engine.still()
    if page["heading"] == heading("sign-in.title"):
        journey.sign_in()
    elif page["heading"] != heading("approve.title"):
        raise Failure(f"Back leads to {page['heading']!r}: {stage.engine.words()}")
    journey.approve()


def two_tabs_of_a_sign_in(stage):
    """The second tab signs in; then the first tab sends its sign-in form."""
    journey = Journey(stage)
    journey.reach_sign_in()
    first, _ = stage.engine.new_tab()
    journey.reach_sign_in()
    journey.sign_in()
    stage.engine.close_tab(first)
    journey.at("sign-in.title")
    journey.sign_in()
    journey.approve()


def two_tabs_of_an_approval(stage):
    """Both tabs show "Is this your screen?"; the viewer approves in the second, and then in the first."""
    journey = Journey(stage)
    journey.reach_sign_in()
    journey.sign_in()
    first, _ = stage.engine.new_tab()
    stage.engine.open(f"{stage.service.url}/D/{journey.code}")
    if not stage.engine.script:
        journey.at("scanned.title")
        stage.engine.press("main form button")
    journey.at("approve.title")
    journey.approve()
    stage.engine.close_tab(first)
    journey.at("approve.title")
    stage.engine.press("button.approve")
    journey.at("result.delivered.title")
    expect("the box", journey.box.signed_in()[0], 200)


# The page's long polls that are over: when each began and ended, in milliseconds.
POLLS = """
return performance.getEntriesByType("resource").filter((one) => one.name.includes("/wait?"))
  .map((one) => [one.startTime, one.responseEnd]);
"""


def news_on_the_result_page(stage):
    """After a change the page polls again at once, because the box may fetch its sign-in within the same second."""
    engine = stage.engine
    # Three seconds after the approval the service reports that the screen is late. A page that is loaded at the right
    # moment gets this within a second of its poll; the right moment depends on how fast this machine loads a page.
    for moment in (2.3, 1.9, 1.5, 2.1, 1.7, 1.3):
        journey = Journey(stage)
        journey.reach_sign_in()
        journey.sign_in()
        engine.press("button.approve")
        approved = time.monotonic()
        page = journey.at("result.approved.title")
        time.sleep(max(0, approved + moment - time.monotonic()))
        engine.open(f"{stage.service.url}/D/{journey.code}/result")
        journey.at("result.approved.title", other_than=page["document"])
        end = time.monotonic() + 4
        while not (polls := engine.run(POLLS)) and time.monotonic() < end:
            time.sleep(0.02)
        expect("the box", journey.box.signed_in()[0], 200)
        journey.at("result.delivered.title")
        if polls and polls[0][1] - polls[0][0] < 900:
            second = until("the page has heard of the delivery", lambda: engine.run(POLLS)[1:])[0]
            pause = second[0] - polls[0][1]
            if pause > 500:
                raise Failure(f"the page asked again {pause:.0f} ms after news")
            return
    raise Failure("the machine is too slow: the page never heard news within a second of its question")


def enter_held_down(stage):
    """Holding Enter for three seconds in the password field signs in, and decides nothing on the next page."""
    journey = Journey(stage)
    journey.reach_sign_in()
    journey.fill()
    time.sleep(0.3)
    stage.engine.display.hold("Return", 3)
    journey.at("approve.title")
    expect("the code", journey.box.look()["state"], "claimed")
    expect("the box", journey.box.signed_in()[0], 404)
