"""Stories about codes, each with a phone without cookies: from the code to the result on the screen."""

import threading
import time
import traceback
import urllib.parse


from browser import Phone, become
from service import Box, Failure, connected, until

# The most bytes that one page may have with all its files at the first visit.
HEAVIEST = 60 * 1024


def typed_code(phone):
    """The code is typed in small letters, from the front page until the box gets its result."""
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
        def says_delivered():
            phone.open(f"/D/{code}/result")
            return phone.heading() == phone.text("result.delivered.title")

        # The service records the delivery a moment after its response to the box.
        until("the result page says that the box is signed in", says_delivered)
    phone.at("result.delivered.title")


def weigh(phone):
    """The bytes of the page that compares and of its files, with headers, as transferred at the first visit."""
    place = urllib.parse.urlsplit(phone.driver.current_url)
    cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in phone.driver.get_cookies())
    files = phone.driver.execute_script(
        "return [...document.querySelectorAll('link[href], script[src], img[src]')].map((e) => e.href || e.src)")
    weights = {}
    for address in [phone.driver.current_url] + files:
        connection = connected(place, timeout=20)
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
    """With a browser session: two taps and no typing."""
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
        # The page updates itself.
        phone.at("result.delivered.title")


def live_result(phone):
    """The page shows the result as soon as the box has it."""
    box = Box(phone.service)
    phone.reach_approval(box.ask())
    phone.tap("button.approve")
    phone.at("result.approved.title")
    phone.expect("the box's answer", box.signed_in()[0], 200)
    if not phone.script:
        phone.tap("main a.button")
    phone.at("result.delivered.title")


def wrong_code(phone):
    """The error message says what is wrong, is attached to its field, and keeps the typed text."""
    for typed, problem in (("bcd", "wrong-length"), ("hello wd", "wrong-letters"), ("BCDF-GHJK", "unknown")):
        phone.open("/")
        phone.type("#code", typed)
        phone.tap("main button.main")
        phone.at("enter.title")
        phone.expect("the problem", phone.one("#code-problem").text, phone.text(f"enter.problem.{problem}"))
        field = phone.one("#code")
        phone.expect("aria-invalid", field.get_attribute("aria-invalid"), "true")
        phone.expect("described by", "code-problem" in field.get_attribute("aria-describedby"), True)
        phone.focused("code")
    phone.scan("BCDFGHJK")
    phone.at("notice.unknown-code.title")


def expired_code(phone):
    """An expired code: typed, scanned, and one that expires while the page is open."""
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
    if phone.script:
        phone.shown("[data-time-over]")
        phone.expect("approve can be tapped", phone.one("button.approve").is_enabled(), False)
        phone.scan(code)
    else:
        phone.tap("button.approve")
    phone.at("notice.expired.title")
    phone.expect("the box's answer", box.signed_in()[0], 410)


def deny(phone):
    """A denial, without and with a report: the box gets it."""
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
    """The number on the screen: the right one signs in, a wrong one ends the code."""
    for right in (True, False):
        phone.fresh()
        box = Box(phone.service)
        code = box.ask(match="number")
        phone.expect("no number yet", "match" in box.look(), False)
        phone.reach_approval(code)
        wanted = str(box.look()["match"])
        phone.tap("button.approve")
        phone.at("number.title")
        phone.expect("the page gives the number away", f'value="{wanted}"' in phone.driver.page_source, False)
        phone.type("#number", wanted if right else "10" if wanted == "99" else str(int(wanted) + 1))
        phone.tap("main button.approve")
        phone.at("result.approved.title" if right else "notice.wrong-number.title")
        phone.expect("the box's answer", box.signed_in()[0], 200 if right else 403)


def family(phone):
    """Two phones, one code: the second phone must wait until the first one releases it."""
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
    """Two phones open a code at the same moment, and one approves and denies at once: there is one lasting result."""
    other = Phone(phone.service, script=phone.script)

    def together(act):
        """Runs `act` in both browsers at the same time, each in its own thread, until both are done."""
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
            # The phone that holds the code denies in one tab and approves in another.
            first, page = winner.driver.current_window_handle, winner.driver.current_url
            winner.driver.switch_to.new_window("tab")
            winner.open(page)
            winner.at("approve.title")
            second = winner.driver.current_window_handle
            for window in (first, second):
                winner.driver.switch_to.window(window)
                winner.rested()
            moment = 1000 * time.time() + 400
            for window, button in ((second, ".choices button.deny"), (first, "button.approve")):
                winner.driver.switch_to.window(window)
                winner.driver.execute_script(
                    "setTimeout((one) => document.querySelector(one).click(), arguments[0] - Date.now(), arguments[1])",
                    moment, button)
            said = until("the box's answer", lambda: answer(box))
            phone.expect("yes or no", said in ((200, "aurora"), (403, "denied")), True)
            # In either case the other phone cannot change it.
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
