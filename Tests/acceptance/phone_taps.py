"""Stories about hasty taps: a second tap meant for the previous page decides nothing, a deliberate one counts."""

import time

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import Phone
from service import Box, Failure, until

# Milliseconds between the two taps, and their place on the button; each delay is tried at another place.
DELAYS = (60, 120, 300, 500, 700, 900)
PLACES = (0.08, 0.5, 0.92)
# A second, and a second on a slow machine.
SECOND, PATIENT_SECOND = 1.0, 2.5


def touch(phone, x, y):
    """A touch on the screen, as the engine gets it from a touch screen."""
    for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        phone.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def mouse(phone, kind, x, y):
    """Presses or releases the left mouse button."""
    phone.driver.execute_cdp_cmd(
        "Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})


def point(phone, selector, place):
    """A point of an element in the window, after scrolling it into view."""
    left, top, width, height = phone.driver.execute_script("""
        arguments[0].scrollIntoView({block: "nearest"});
        const box = arguments[0].getBoundingClientRect();
        return [box.left, box.top, box.width, box.height];
        """, phone.one(selector))
    return left + place * width, top + height / 2


def twice(phone, selector, delay, place):
    """Taps twice at one place; returns the seconds between the taps."""
    phone.rested()
    where = point(phone, selector, place)
    began = time.monotonic()
    touch(phone, *where)
    time.sleep(max(0, began + delay / 1000 - time.monotonic()))
    gap = time.monotonic() - began
    touch(phone, *where)
    return gap


class Taps:
    """Double taps on buttons; after each the given condition must hold."""

    def __init__(self, phone, start):
        self.phone, self.start, self.tried = phone, start, 0

    def each(self, what, prepare, selector, after, end):
        """`prepare` leads to the button, `after` is the page after two taps, `end` checks the effects."""
        for number, delay in enumerate(DELAYS):
            for _ in range(3):
                box = prepare()
                gap = twice(self.phone, selector, delay, PLACES[(number + self.tried) % 3])
                if gap < SECOND:
                    break
            else:
                raise Failure(f"{what}: this machine is too slow for two taps within a second")
            # The effects of the second tap are complete when the page is shown and the service has responded.
            self.phone.at(after)
            time.sleep(0.3)
            try:
                self.phone.at(after)
                end(box)
            except Exception as error:
                raise Failure(f"{what}, the second tap after {gap * 1000:.0f} ms: {error}") from None
        self.tried += 1


def double_tap(phone):
    """Two quick taps on each button before a decision: nothing is decided, reported or signed out."""
    other = Phone(phone.service, script=phone.script, patient=False)
    try:
        other.fresh(phone.language)
        other.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        tell_double_taps(other)
    finally:
        phone.problems += other.problems
        phone.sources += other.sources
        other.driver.quit()


def tell_double_taps(phone):
    taps, box = Taps(phone, time.monotonic()), Box(phone.service)

    def state(box, wanted):
        phone.expect("the code", box.look()["state"], wanted)

    def scanned(**query):
        code = box.ask(**query)
        phone.scan(code)
        phone.at("approve.title")
        return box

    # A browser without a session.
    def at_sign_in():
        phone.fresh()
        phone.scan(box.ask())
        phone.at("provider.title")
        phone.tap("button[value=aurora]")
        phone.at("sign-in.title", provider="Aurora TV")
        phone.type("#user", "anna")
        phone.type("#password", "a password of many words")
        return box

    def at_guest():
        phone.fresh()
        phone.scan(box.ask())
        phone.at("provider.title")
        return box

    taps.each("sign in", at_sign_in, "main button.main", "approve.title", lambda box: state(box, "claimed"))
    taps.each("a guest", at_guest, "button[value=pass]", "approve.title", lambda box: state(box, "claimed"))

    # From here on anna is signed in; the loss of her session would be noticed.
    at_sign_in()
    phone.tap("main button.main")
    phone.at("approve.title")
    session = next(cookie["value"] for cookie in phone.driver.get_cookies() if cookie["name"].endswith("session"))

    def kept(box, wanted):
        state(box, wanted)
        cookies = {cookie["name"]: cookie["value"] for cookie in phone.driver.get_cookies()}
        phone.expect("the sign-in is kept", session in cookies.values(), True)

    def typed():
        code = box.ask()
        phone.open("/")
        phone.at("enter.title")
        phone.type("#code", code)
        return box

    def opened():
        scanned()
        phone.open(f"/D/{box.record['code']}/provider")
        phone.at("provider.title")
        return box

    def at_link():
        phone.open(f"/D/{box.ask()}")
        phone.at("scanned.title")
        return box

    def at_numbers():
        scanned(match="number")
        phone.tap("button.approve")
        phone.at("number.title")
        return box

    taps.each("a typed code", typed, "main button.main", "approve.title", lambda box: kept(box, "claimed"))
    if not phone.script:
        taps.each("a link", at_link, "main button.main", "approve.title", lambda box: kept(box, "claimed"))
    taps.each("a provider", opened, "button[value=aurora]", "approve.title", lambda box: kept(box, "claimed"))
    taps.each("another account", scanned, ".aside button", "provider.title", lambda box: kept(box, "opened"))
    taps.each(
        "approve before the number", lambda: scanned(match="number"), "button.approve", "number.title",
        lambda box: kept(box, "claimed"))
    taps.each("none of these", at_numbers, "a.deny", "report.title", lambda box: kept(box, "claimed"))
    # Each with a deliberate tap afterwards.
    phone.tap("main button.deny")
    phone.at("notice.reported.title")
    scanned()
    phone.tap("button.approve")
    phone.at("result.approved.title")
    phone.expect("the box's answer", box.signed_in()[0], 200)

    def at_screens():
        phone.open("/screens")
        phone.at("screens.title")
        return box

    def still_in(box):
        phone.expect("the box is signed in", box.signed_in()[0], 200)
        phone.expect("the sign-in is kept", session in [c["value"] for c in phone.driver.get_cookies()], True)

    for what, selector, after in (
        ("a screen", ".screens > li a[href$='/sign-out']", "confirm.screen.title"),
        ("this phone", ".account-box a[href$='/sign-out']", "confirm.phone.title"),
        ("a name", ".screens > li a[href$='/rename']", "rename.title"),
    ):
        taps.each(what, at_screens, selector, after, still_in)
    audit = phone.service.control("audit", "list", "--json")
    reports = [entry for entry in entries(audit) if entry["action"] == "code.report" and box.id in str(entry)]
    phone.expect("reports without a deliberate tap", len(reports) <= 1, True)


def entries(audit):
    """The lines of an audit listing."""
    return audit if isinstance(audit, list) else next(iter(value for value in audit.values() if isinstance(value, list)))


def rests(phone):
    """A decision button becomes active a second after its page is shown or comes back into view."""
    box = Box(phone.service)
    phone.reach_approval(box.ask())
    early = 0
    for _ in range(6):
        phone.driver.refresh()
        # Milliseconds since the navigation; the second is counted from the first paint, which is later.
        passed, is_shown = phone.driver.execute_script(
            "return [performance.now(), getComputedStyle(arguments[0]).visibility === 'visible']", phone.one("button.approve"))
        if passed < 1000 * SECOND:
            early += 1
            phone.expect(f"shown after {passed:.0f} ms", is_shown, False)
        until("it is shown", phone.one("button.approve").is_displayed, PATIENT_SECOND)
    if early == 0:
        raise Failure("this machine is too slow to look at a page within its first second")
    # A mouse button that is pressed too early and released later.
    for _ in range(6):
        phone.driver.refresh()
        x, y = point(phone, "button.approve", 0.5)
        mouse(phone, "mousePressed", x, y)
        is_early = phone.driver.execute_script("return performance.now()") < 1000 * SECOND
        until("it is shown", phone.one("button.approve").is_displayed, PATIENT_SECOND)
        mouse(phone, "mouseReleased", x, y)
        if is_early:
            break
        # This press was late enough to be deliberate.
        phone.scan(box.ask())
        phone.at("approve.title")
    else:
        raise Failure("this machine is too slow to press within a page's first second")
    time.sleep(0.3)
    phone.expect("the code after an early press", box.look()["state"], "claimed")
    if not phone.script:
        phone.tap("button.approve")
        phone.at("result.approved.title")
        return
    button = phone.one("button.approve")
    for what, event in (
        ("comes back into view", "document.dispatchEvent(new Event('visibilitychange'))"),
        ("comes back from the cache", "dispatchEvent(new PageTransitionEvent('pageshow', {persisted: false}))"),
    ):
        phone.driver.execute_script(event)
        is_anew = "view" in what
        phone.expect(f"shown when the page {what}", button.is_displayed(), not is_anew)
        until("it is shown", button.is_displayed)
    for width in (320, 360):
        phone.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": True})
        until("the button rests after a turn", lambda: not button.is_displayed(), 1)
        until("it is shown", button.is_displayed)
    # Keyboards and address bars change the height all the time, and scrolling is no rotation, so the button stays
    # active.
    phone.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 500, "deviceScaleFactor": 1, "mobile": True})
    phone.driver.execute_script("scrollBy(0, 100)")
    time.sleep(0.2)
    phone.expect("shown after scrolling", button.is_displayed(), True)
    # A click without a press while the button is inactive, as by a screen reader or a script.
    phone.driver.execute_script(
        "document.dispatchEvent(new Event('visibilitychange')); arguments[0].click()", button)
    time.sleep(0.3)
    phone.expect("the code", box.look()["state"], "claimed")
    until("it is shown", button.is_displayed)
    phone.driver.execute_script("arguments[0].click()", button)
    phone.at("result.approved.title")


def held_key(phone):
    """Enter that is held down has no effect on the next page."""
    box = Box(phone.service)
    phone.scan(box.ask())
    phone.at("provider.title")
    phone.tap("button[value=aurora]")
    phone.at("sign-in.title", provider="Aurora TV")
    phone.type("#user", "anna")
    phone.type("#password", "a password of many words")
    key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
    phone.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", **key})
    end = time.monotonic() + 3
    while time.monotonic() < end:
        phone.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", "autoRepeat": True, **key})
        time.sleep(0.03)
    phone.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", **key})
    phone.at("approve.title")
    phone.expect("the code", box.look()["state"], "claimed")
    if not phone.script:
        return
    # With the focus on the button: a new press counts, the repeats of an earlier press do not.
    button = phone.one("button.approve")
    until("it is shown", button.is_displayed)
    phone.driver.execute_script("arguments[0].focus()", button)
    for _ in range(5):
        phone.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", "autoRepeat": True, **key})
    time.sleep(0.3)
    phone.expect("the code", box.look()["state"], "claimed")
    button.send_keys(Keys.ENTER)
    phone.at("result.approved.title")
