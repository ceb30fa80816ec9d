#!/usr/bin/env python3
"""`getAuthentication` of the SDK with a real daemon and a real service: a table of outcomes.

usage: account_dialog.py FOLDER_OF_PROGRAMS [WORDS [TIMES]]

A row is a name and the steps of an app that a viewer operates. A step that begins with ">" acts; every other step is the
next line that the app prints (its beginning is enough). A line that no step names fails the row. Each row begins with a new
app, with its permission granted and the box signed out. WORDS runs only the rows whose names contain them, TIMES times.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types

from account_world import LIMIT, World, regent, wait

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "oauth"))
from issuer import Phone

# The SDK waits this long for news of the box's code before it takes the daemon for gone, and some more.
PATIENCE = 25 + 10
DIALOG = "present local,picker"
PICKER = "dialog "
CODE = [">get", DIALOG, ">provider local", "dismiss", "code "]
WHO = [">who", "in platform local"]
IN = ["authentication 1", *WHO]
OUT = [">who", "out"]

ROWS = [
    ("the viewer approves the box's code", CODE + [">approve", *IN]),
    ("the viewer approves after the phone has shown another code", CODE + [">back", "authentication 0 PROVIDER_NOT", *CODE, ">approve", *IN]),
    ("the box is signed in already", [">sso sign-in", ">get", *IN]),
    ("an app that is in asks again", CODE + [">approve", "authentication 1", ">get", *IN]),
    ("a forced sign-in uses the box's account", [">sso sign-in", ">get", "authentication 1", ">force", *IN]),

    # The viewer decides otherwise.
    ("the viewer cancels the dialog", [">get", DIALOG, ">cancel", "dismiss", "status N005", PICKER, ">back",
                                       "status N005", "authentication 0 PROVIDER_NOT", *OUT]),
    ("the viewer chooses other providers", [">get", DIALOG, ">other", "dismiss", "status N003", PICKER, ">select other",
                                            "code ", ">approve other", "authentication 1", ">who", "in regular other"]),
    ("the viewer goes back from the code", CODE + [">back", "authentication 0 PROVIDER_NOT", *OUT]),
    ("the viewer denies on the phone", CODE + [">deny", "status N000", "authentication 0 GENERIC", *OUT]),
    ("a denied viewer tries again", CODE + [">deny", "status N000", "authentication 0 GENERIC", *CODE, ">approve", *IN]),
    ("the operator withdraws the code", CODE + [">withdraw", "status ", "authentication 0 GENERIC", *OUT]),

    # Another provider.
    ("the provider is only listed in the picker", [">get", DIALOG, ">provider picker", "dismiss", "code ", ">approve picker",
                                                   "authentication 1", ">who", "in regular picker"]),
    ("the box has no such provider", [">get", DIALOG, ">provider lacks", "dismiss", "status AAPL_ERROR", PICKER, *OUT]),
    ("the app has no such provider", [">get", DIALOG, ">provider boxonly", "dismiss", "status N004", PICKER, *OUT]),
    ("a provider that the app has not is taken on the phone", CODE + [">approve boxonly", "status N004", PICKER, *OUT]),
    ("the app selects a provider while the dialog is up", [">get", DIALOG, ">select other", "dismiss", "code ",
                                                           ">approve other", "authentication 1", ">who", "in regular other"]),
    ("the app selects a provider while the code is up", CODE + [">select other", "code ", ">approve other", "authentication 1",
                                                                ">who", "in regular other"]),

    # The permission.
    ("the app is not permitted", [">sso deny probe", ">get", "status VSA403", PICKER, *OUT]),
    ("nothing was decided about the app", [">sso reset probe", ">get", "status VSA404", PICKER, *OUT]),
    ("the permission is taken while the dialog is up", [">get", DIALOG, ">sso deny probe", ">provider local", "dismiss",
                                                        "status VSA403", PICKER, *OUT]),
    ("the permission is taken while the code is up", CODE + [">sso deny probe", ">approve", "status VSA403", PICKER, *OUT]),

    ("single sign-on is off for the app", [
        ">integrate APP local --sso off", ">requestor", "complete 1", ">sso sign-in", ">get", "status N004", PICKER, *OUT, ">the switch is named", ">integrate APP local --sso on",
        ">back", "status N005", "authentication 0 PROVIDER_NOT", ">requestor", "complete 1", ">get", *IN]),

    # The box is signed in or out by its owner meanwhile.
    ("the box is signed in while the dialog is up", [">get", DIALOG, ">sso sign-in", ">provider local", "dismiss", *IN]),
    ("the box is signed in while the dialog is up, and the viewer cancels", [
        ">get", DIALOG, ">sso sign-in", ">cancel", "dismiss", "status N005", PICKER, *OUT]),
    ("the box is signed in while the code is up", CODE + [">sso sign-in", ">ignore the end of the code", ">get", *IN]),
    ("the box is signed out while the dialog is up", [">sso sign-in", ">sso sign-out", ">get", DIALOG, ">sso sign-out",
                                                      ">provider local", "dismiss", "code ", ">approve", *IN]),
    ("the box is signed out while the code is up", CODE + [">sso sign-out", "status N000", "authentication 0 GENERIC", *OUT]),
    ("the box is signed out after the app is in", [">sso sign-in", ">get", *IN, ">sso sign-out", ">check",
                                                   "authentication 0 USER_NOT"]),
    ("the box is signed out and in after the app is in", [">sso sign-in", ">get", *IN, ">sso sign-out", ">sso sign-in", ">get", *IN]),

    # The daemon is killed at each step.
    ("the daemon was killed before the call", [">kill daemon", ">get", "status VSA503", PICKER, *OUT]),
    ("the daemon was restarted before the call", [">restart daemon", *CODE, ">approve", *IN]),
    ("the daemon is killed while the dialog is up", [">get", DIALOG, ">kill daemon", ">provider local", "dismiss", "status VSA503",
                                                     PICKER, *OUT]),
    ("the daemon is restarted while the dialog is up", [">get", DIALOG, ">restart daemon", ">provider local", "dismiss", "code ",
                                                        ">approve", *IN]),
    ("the daemon is killed while the code is up", CODE + [">kill daemon", "status VSA503", PICKER, *OUT]),
    ("the daemon is restarted while the code is up", CODE + [">restart daemon", "status VSA503", PICKER, ">back", "status N005",
                                                             "authentication 0 PROVIDER_NOT", *CODE, ">approve", *IN]),
    ("the daemon hangs when the code is approved", CODE + [">stop daemon", ">approve", "status VSA503", PICKER, *OUT]),
    ("the daemon is killed after the app is in", CODE + [">approve", *IN, ">kill daemon", ">check", "status AAPL_ERROR",
                                                         "authentication 0 USER_NOT"]),
    ("the daemon is restarted after the app is in", CODE + [">approve", *IN, ">restart daemon", ">check", *IN]),

    # The service is killed at each step.
    ("the service is restarted while the dialog is up", [">get", DIALOG, ">restart service", ">provider local", "dismiss", "code ",
                                                         ">approve", *IN]),
    ("the service is killed while the dialog is up", [">get", DIALOG, ">kill service", ">provider local", "dismiss",
                                                      "status AAPL_ERROR", PICKER, *OUT]),
    ("the service is restarted while the code is up", CODE + [">restart service", ">approve", *IN]),
    ("the service is restarted right after the approval", CODE + [">approve", ">restart service", *IN]),
    ("the service is killed after the box signed in", [">sso sign-in", ">kill service", ">get", PICKER, *OUT]),
    ("the service is restarted after the app is in", CODE + [">approve", *IN, ">restart service", ">get", *IN]),

    # The app is killed.
    ("the app is killed while the dialog is up", [">get", DIALOG, ">restart app", *CODE, ">approve", *IN]),
    ("the app is killed with the code up and signs in again", CODE + [">restart app", *CODE, ">approve", *IN]),
    ("the app is killed with the code up and starts after the approval", CODE + [">kill app", ">approve", ">hear of it", ">restart app", ">check",
                                                                                 *IN]),
    ("the app is killed after it is in", CODE + [">approve", *IN, ">restart app", ">check", *IN]),
    ("the app signs out", CODE + [">approve", *IN, ">logout", "status VSA203", "authentication 0 USER_NOT", *OUT]),
]


class App:
    """SDKProbe's `app`, and the lines that it prints."""

    def __init__(self, world, store):
        self.lines, self.ready = [], threading.Condition()
        key = world.keys["APP"]
        self.process = subprocess.Popen(
            [f"{world.programs}/SDKProbe", "app", store, f"http://{world.host}", "APP", key["publicKey"], key["secret"],
             world.socket],
            env=world.plain, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("status REGCODE_"):
                continue
            with self.ready:
                self.lines.append(line.rstrip())
                self.ready.notify()

    def next(self, seconds):
        with self.ready:
            self.ready.wait_for(lambda: self.lines, seconds)
            return self.lines.pop(0) if self.lines else None

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Row:
    def __init__(self, world, number):
        self.world, self.store, self.code = world, f"{world.home}/row-{number}", ""
        self.heard, self.app = [], None
        self.start()

    def start(self):
        self.app = App(self.world, self.store)
        line = self.app.next(LIMIT)
        assert line == "complete 1", f"the app starts with {line}"

    def run(self, steps):
        for step in steps:
            if step.startswith(">"):
                self.act(step[1:])
                continue
            line = self.app.next(PATIENCE)
            self.heard.append(line)
            assert line is not None and line.startswith(step), f"not \"{step}\", but \"{line}\""
            if line.startswith("code "):
                self.code = line.split()[1]
        line = self.app.next(0.3)
        assert line is None, f"then also \"{line}\""

    def act(self, step):
        world, words = self.world, step.split()
        match words:
            case ["approve", *more]:
                world.control("code", "approve", self.code, "--provider", more[0] if more else "local", "--account", "demo")
            case ["deny"]: self.deny()
            case ["withdraw"]: world.control("code", "withdraw", self.code)
            # Otherwise the app may start before the daemon has heard of the approval.
            case ["hear", "of", "it"]: wait(world.is_signed_in, "sign-in of the box")
            case ["sso", "sign-in"]: world.sign_in()
            case ["sso", *more]: world.regent("sso", *more)
            case ["integrate", *more]: world.control("integrate", *more)
            case ["the", "switch", "is", "named"]: self.the_switch_is_named()
            # The owner's program takes the code over or replaces it: then the app is in, or is told that its code is over.
            case ["ignore", *_]:
                while self.app.next(1):
                    pass
            case ["kill", "app"]: self.app.kill()
            case ["restart", "app"]:
                self.app.kill()
                self.start()
            case ["kill", "daemon"]:
                world.daemon.kill()
                world.daemon.wait()
            case ["restart", "daemon"]: world.kill_daemon()
            case ["stop", "daemon"]: world.daemon.send_signal(19)
            case ["kill", "service"]: world.service.kill()
            case ["restart", "service"]: world.kill_service()
            case _: self.app.say(step)

    def the_switch_is_named(self):
        """By everything that an owner or an operator looks at when single sign-on does not happen."""
        world, wanted = self.world, "regentctl integrate APP local --sso on"
        for name, said in {
            "the SDK's status": next(line for line in self.heard if line.startswith("status N004")),
            "regent sso status": world.regent("sso", "status"),
            "regent sso status --json": world.regent("sso", "status", "--json"),
            "regent doctor": world.regent("doctor", fails=True),
            "the socket": str(regent.Regent(world.socket).platform("APP")),
            "regentctl doctor": world.control("doctor"),
        }.items():
            assert wanted in said, f"{name} does not name the switch: {said}"

    def deny(self):
        phone = Phone(types.SimpleNamespace(url=f"http://{self.world.host}", context=None))
        phone.open(f"/D/{self.code}")
        phone.send(f"/D/{self.code}/open")
        phone.send(f"/D/{self.code}/sign-in?provider=local", user="demo", password="demo-demo-1")
        phone.send(f"/D/{self.code}/deny")

    def end(self):
        """Makes the next row's beginning: everything runs, the box is a new one, and the app may use its account."""
        self.app.kill()
        world = self.world
        if world.service.process.poll() is not None:
            world.start_service()
        world.daemon.kill()
        world.daemon.wait()
        shutil.rmtree(f"{world.home}/box")
        world.start_daemon()
        world.regent("sso", "grant", "probe")
        world.control("integrate", "APP", "local", "--sso", "on")


def provision(world):
    world.provision()
    for words, text in [
        (("provider", "add", "picker", "--name", "Picker", "--kind", "local", "--boarding", "picker"), None),
        (("provider", "add", "lacks", "--name", "Lacks", "--kind", "local", "--boarding", "supported"), None),
        (("provider", "add", "boxonly", "--name", "Box only", "--kind", "local", "--boarding", "supported"), None),
        (("provider", "add", "other", "--name", "Other", "--kind", "local"), None),
        (("integrate", "APP", "picker", "--sso", "on"), None), (("integrate", "APP", "lacks", "--sso", "on"), None),
        (("integrate", "APP", "other"), None), (("integrate", "MAKER", "picker"), None),
        (("integrate", "MAKER", "boxonly"), None),
        *((("account", "add", name, "demo"), "demo-demo-1\n") for name in ("picker", "lacks", "boxonly", "other")),
    ]:
        world.control(*words, text=text)


def main():
    programs, words, times = os.path.abspath(sys.argv[1]), "".join(sys.argv[2:3]), int("".join(sys.argv[3:4]) or 1)
    home = tempfile.mkdtemp(prefix="regent-dialog-")
    failed, world = [], None
    try:
        world = World(home, programs, 1, None)
        provision(world)
        world.start_daemon()
        world.regent("sso", "grant", "probe")
        chosen = [row for row in ROWS if words in row[0]] * times
        for number, (name, steps) in enumerate(chosen):
            row, begun = Row(world, number), time.monotonic()
            try:
                row.run(steps)
                print(f"ok {name} ({time.monotonic() - begun:.1f} s)", flush=True)
            except BaseException as problem:
                if not isinstance(problem, (Exception, SystemExit)):
                    raise
                failed.append(name)
                print(f"FAILED {name}: {problem}\n   {' | '.join(map(str, row.heard))}", flush=True)
            row.end()
    finally:
        processes = [world.daemon, world.service.process] if world else []
        for process in filter(None, processes):
            process.kill()
            process.wait()
        if failed and "KEEP" in os.environ:
            print(home)
        else:
            shutil.rmtree(home, ignore_errors=True)
    if failed:
        sys.exit(f"account_dialog: {len(failed)} of {len(chosen)} rows end otherwise")
    print(f"account_dialog: {len(chosen)} rows")


main()
