"""Stories about a page's first second: its decisions are hidden, and a key that is held down presses none.

The step `engines` taps every button again and again.
"""

import time

from selenium.webdriver.common.keys import Keys

from service import Box, Failure, until

# A second, and a second on a slow machine.
SECOND, PATIENT_SECOND = 1.0, 2.5


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
