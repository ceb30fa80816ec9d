#!/usr/bin/env python3
"""The box's side of the sign-in: the real `regent` and `regentd`, and Chromium as the phone.

    box.py PROGRAMS [--only STORY,STORY]

PROGRAMS is the folder with regentd, regentctl and regent. phone.py checks the pages themselves; this script checks what
the box prints: the events of `regent pair --json` in their order, exit codes, and the screen in a terminal.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import time
import traceback

from browser import Phone
from regent_box import Box
from service import PATIENCE, Failure, Service

class Sofa(Phone):
    """A phone that does not check the pages for accessibility."""

    def look(self, name):
        pass


class Terminal:
    """`regent` on a terminal of 80 × 25."""

    def __init__(self, box, *arguments):
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": box.folder.name, "LC_ALL": "C.UTF-8"}
        self.socket = f"{box.folder.name}/tmux"
        variables = [f"{name}={value}" for name, value in box.environment.items()]
        command = ["env", "-i", "TERM=tmux-256color", *variables, str(box.program), *arguments]
        quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in command)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "25", f"{quoted}; echo exit=$?; sleep 600")

    def tmux(self, *words):
        return subprocess.run(
            ["tmux", "-S", self.socket, "-u", *words], env=self.environment, capture_output=True, text=True,
            check=True, timeout=PATIENCE).stdout

    def shows(self, pattern):
        """Waits until the screen matches the pattern."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            screen = self.tmux("capture-pane", "-p")
            if found := re.search(pattern, screen):
                return found
            time.sleep(0.05)
        raise Failure(f"the screen does not show {pattern!r}:\n{screen}")

    def press(self, key):
        self.tmux("send-keys", key)

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], env=self.environment, capture_output=True,
            timeout=PATIENCE)


# The stories. Each begins with a phone without cookies.


def expect(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what}: {found!r} instead of {wanted!r}")


def approved(phone, boxes):
    """Events code, opened, authenticated; then the box is signed in, gets media tokens, and signs out."""
    box = boxes()
    code = box.pair()
    shown = box.events[0]
    expect("the fields", sorted(shown), ["address", "code", "display", "event", "expires", "url"])
    expect("the code for people", shown["display"], f"{code[:4]}-{code[4:]}")
    # The address in the event is that of the QR code.
    phone.open(shown["url"])
    box.event("opened")
    phone.at("provider.title")
    phone.tap("button[value=aurora]")
    phone.sign_in()
    phone.at("approve.title")
    phone.tap("button.approve")
    # The provider gives the box only an opaque id of the viewer, so the event has no name.
    expect("who", box.event("authenticated"), {"event": "authenticated", "provider": "Aurora TV"})
    box.ends(0)
    phone.at("result.delivered.title")
    status = json.loads(box.ask("status", "--json"))
    expect("signed in", (status["signedIn"], status["provider"]), (True, "aurora"))
    box.ask("authorize", "channel-1", "--verify")
    # A signed-in box says so at once and asks for no code.
    again = subprocess.run(
        [box.program, "pair", "--json"], env=box.environment, capture_output=True, text=True, timeout=PATIENCE)
    expect("already in", (again.returncode, json.loads(again.stdout)["event"]), (0, "authenticated"))
    box.ask("logout")
    box.ask("status", expect=3)


def number(phone, boxes):
    """Only the box shows the number: the right one signs in, a wrong one ends the code."""
    for right in (True, False):
        phone.fresh()
        box = boxes()
        phone.reach_approval(box.pair("--number-matching"))
        box.event("opened")
        wanted = str(box.event("match")["number"])
        phone.tap("button.approve")
        phone.at("number.title")
        phone.type("#number", wanted if right else "10" if wanted == "99" else str(int(wanted) + 1))
        phone.tap("main button.approve")
        box.event("authenticated" if right else "denied")
        box.ends(0 if right else 4)
        phone.at("result.delivered.title" if right else "notice.wrong-number.title")


def denied(phone, boxes):
    """The viewer denies on the phone."""
    box = boxes()
    phone.reach_approval(box.pair())
    box.event("opened")
    phone.tap(".choices button.deny")
    box.event("denied")
    box.ends(4)
    phone.at("notice.denied.title")
    box.ask("status", expect=3)


def expired(phone, boxes):
    """A code expires: without --unattended the box reports it; with it a new code comes and works."""
    box = boxes()
    box.pair("--lifetime", "2s")
    box.event("expired")
    box.ends(5)
    first = box.pair("--unattended", "--lifetime", "4s")
    box.event("expired")
    second = box.event("code")["code"]
    expect("another code", first != second, True)
    phone.scan(first)
    phone.at("notice.expired.title")
    box.close()
    # A code that a phone has opened is not replaced at once: the message stays on the screen for a minute.
    box = boxes()
    phone.scan(box.pair("--unattended", "--lifetime", "5s"))
    box.event("opened")
    box.event("expired")
    expect("no other code yet", (box.process.poll(), box.rest), (None, b""))


def two_boxes(phone, boxes):
    """Two boxes and one phone: each box gets its own result."""
    first, second = boxes(), boxes()
    codes = first.pair(), second.pair()
    phone.reach_approval(codes[1])
    phone.tap("button.approve")
    second.event("opened")
    second.event("authenticated")
    second.ends(0)
    expect("the first box waits", (first.process.poll(), first.names()), (None, ["code"]))
    phone.scan(codes[0])
    phone.at("approve.title")
    phone.tap(".choices button.deny")
    first.event("opened")
    first.event("denied")
    first.ends(4)
    second.ask("status")
    first.ask("status", expect=3)


def on_screen(phone, boxes):
    """What a viewer reads on the screen of the box at each step of the phone."""
    box = boxes()
    terminal = Terminal(box, "pair", "--number-matching", "--product", "Sport TV")
    try:
        code = terminal.shows(r"\b([BCDFGHJKLMNPQRSTVWXZ]{4})-([BCDFGHJKLMNPQRSTVWXZ]{4})\b")
        terminal.shows("Waiting for your phone")
        phone.reach_approval(code[1] + code[2])
        terminal.shows("Type this number on the phone")
        phone.tap("button.approve")
        phone.at("number.title")
        # The large number is drawn with blocks; the line for screen readers has it as text.
        wanted = terminal.shows(r"Number ([1-9][0-9])\b")[1]
        phone.type("#number", wanted)
        phone.tap("main button.approve")
        terminal.shows("You are signed in")
        phone.at("result.delivered.title")
        terminal.press("q")
        terminal.shows("exit=0")
    finally:
        terminal.close()


STORIES = (approved, number, denied, expired, two_boxes, on_screen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--only", type=lambda text: text.split(","))
    arguments = parser.parse_args()
    problems, told = [], 0
    service = Service(arguments.programs)
    phone = None
    try:
        service.control("entitle", "add", "aurora", "--allow", "*")
        phone = Sofa(service)
        for story in STORIES:
            if arguments.only and story.__name__ not in arguments.only:
                continue
            made = []

            def boxes():
                made.append(Box(service))
                return made[-1]

            start = time.monotonic()
            told += 1
            try:
                phone.fresh("en")
                story(phone, boxes)
            except Exception as error:
                detail = str(error) if isinstance(error, Failure) else traceback.format_exc()
                problems.append(f"{story.__name__}: {detail}")
            finally:
                for box in made:
                    box.close()
            print(f"{story.__name__}: {time.monotonic() - start:.1f} s")
    finally:
        if phone:
            phone.driver.quit()
        if code := service.stop():
            problems.append(f"regentd ended with {code}")
    for problem in problems:
        print(problem)
    print(f"{told} stories of the box: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
