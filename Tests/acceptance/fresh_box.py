#!/usr/bin/env python3
"""From a new box to its apps: one sign-in on the phone, then the viewer's decision about each app.

    fresh_box.py PROGRAMS

PROGRAMS is the folder with regentd, regentctl, regent and SDKProbe. The phone is Chromium; the apps use the SDK and run
as three Unix users. Two of them may use the box's account and are signed in by it, the third may not. A denial on the
phone's "my screens" reaches the box within two seconds and affects that app's next start and no other's. Needs root,
for the apps' users.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from browser import Phone
from service import PATIENCE, REQUESTOR, Service, until

MAKER = "maker"
APPS = {"kodi": 23_501, "radio": 23_502, "guest": 23_503}
# The seconds within which a decision on the phone must reach the box.
SECONDS = 2


class LivingRoom:
    """A box that is not signed in yet, with its daemon and its apps."""

    def __init__(self, service, home):
        self.service, self.home = service, pathlib.Path(home)
        self.socket = f"{home}/regent/agent.sock"
        key = service.control("key", "issue", MAKER, "--json")
        (self.home / "secret").touch(0o600)
        (self.home / "secret").write_text(key["secret"])
        (self.home / "agent.conf").write_text(
            "".join(f"app = {name} user:{user} requestor:{REQUESTOR}\n" for name, user in APPS.items()))
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8", "XDG_RUNTIME_DIR": home,
            "REGENT_SERVICE": service.url, "REGENT_REQUESTOR": MAKER, "REGENT_PUBLIC_KEY": key["publicKey"],
            "REGENT_SECRET_FILE": f"{home}/secret", "REGENT_STATE": f"{home}/box"}
        for name, user in APPS.items():
            (self.home / name).mkdir(0o700)
            os.chown(self.home / name, user, user)
        self.daemon = subprocess.Popen(
            [service.programs / "regent", "daemon", "--config", f"{home}/agent.conf"], env=self.environment,
            stdout=subprocess.DEVNULL, stderr=open(f"{home}/daemon.log", "ab"))
        until("the daemon listens", lambda: os.path.exists(self.socket))

    def regent(self, *words):
        done = subprocess.run(
            [self.service.programs / "regent", *words], env=self.environment, capture_output=True, text=True,
            timeout=PATIENCE)
        if done.returncode:
            raise SystemExit(f"regent {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def sign_in(self, phone):
        """Runs `regent sso sign-in` and approves on the phone."""
        pairing = subprocess.Popen(
            [self.service.programs / "regent", "sso", "sign-in", "--json"], env=self.environment,
            stdout=subprocess.PIPE, text=True)
        try:
            for line in pairing.stdout:
                event = json.loads(line)
                if event["event"] == "code":
                    # The box maker has one provider, so the phone does not ask for it.
                    phone.scan(event["code"])
                    phone.sign_in()
                    phone.at("approve.title")
                    phone.tap("button.approve")
            if pairing.wait(timeout=PATIENCE):
                raise SystemExit("the box is not signed in")
        finally:
            pairing.kill()
            pairing.wait()

    def start(self, app):
        """Starts the app as its user; returns the lines with its status and whether it is signed in."""
        key, user = self.service.key, APPS[app]
        done = subprocess.run(
            ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", self.service.programs / "SDKProbe",
             "start", self.home / app / "store", self.service.url, REQUESTOR, key["publicKey"], key["secret"],
             self.socket],
            env={"PATH": os.environ["PATH"], "HOME": str(self.home / app)}, cwd="/", capture_output=True, text=True,
            timeout=PATIENCE)
        if done.returncode:
            raise SystemExit(f"{app} ends with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout.splitlines()

    def expect(self, app, *wanted):
        found = self.start(app)
        if found != list(wanted):
            raise SystemExit(f"{app}: {found} instead of {list(wanted)}")

    def permission(self, app):
        """The permission that the box has stored."""
        found = [one for one in json.loads(self.regent("sso", "status", "--json"))["apps"] if one["app"] == app]
        return found[0]["permission"] if found else None

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait(timeout=PATIENCE)


def story(box, phone):
    box.expect("kodi", "status VSA404", "out")
    box.sign_in(phone)
    for app in ("kodi", "radio"):
        box.regent("sso", "grant", app)
        box.expect(app, "in platform aurora")
    box.expect("guest", "status VSA404", "out")

    phone.open("/screens")
    phone.at("screens.title")
    phone.tap("a[href$='/apps']")
    phone.at("apps.title")
    phone.one("details:has(input[name=app][value=kodi]) summary").click()
    before = time.monotonic()
    phone.tap("form:has(input[name=app][value=kodi]) button[value=denied]")
    until("the phone's no is at the box", lambda: box.permission("kodi") == "denied")
    took = time.monotonic() - before
    if took > SECONDS:
        raise SystemExit(f"the phone's no is at the box after {took:.2f} s only")
    box.expect("kodi", "status VSA403", "out")
    box.expect("radio", "in platform aurora")
    box.expect("guest", "status VSA404", "out")
    return took


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if os.geteuid():
        return print("fresh box: NOT RUN, only root can run the apps as different users")
    service = Service(pathlib.Path(sys.argv[1]).resolve())
    home = tempfile.mkdtemp(prefix="regent-box-")
    os.chmod(home, 0o711)
    box = phone = None
    try:
        service.control("requestor", "add", MAKER, "--name", "Box Maker", "--platform", "on")
        service.control("provider", "set", "aurora", "--boarding", "supported", "--platform-id", "aurora")
        service.control("integrate", REQUESTOR, "aurora", "--sso", "on")
        service.control("integrate", MAKER, "aurora")
        box, phone = LivingRoom(service, home), Phone(service)
        phone.fresh("en")
        took = story(box, phone)
        if problems := phone.problems + phone.complaints():
            raise SystemExit("\n".join(problems))
    finally:
        if phone:
            phone.driver.quit()
        if box:
            box.stop()
        shutil.rmtree(home, ignore_errors=True)
        code = service.stop()
    if code:
        raise SystemExit(f"regentd ended with {code}")
    print(f"a new box: two apps signed in by one sign-in on the phone, a denial at the box after {took:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
