#!/usr/bin/env python3
"""The box's platform account shared with apps: a service, a daemon, and apps that run as different Unix users.

usage: account.py FOLDER_OF_PROGRAMS [COUNT [SEED]]

Twenty apps use one sign-in. Then the daemon and the service are killed with -9 at every step of the exchange and at
COUNT random moments within it; the service is restarted while all apps sign in; the box's disk is full; the sockets get
malformed requests. No app may lose its sign-in, and every call must end. With release programs it also prints figures.
Needs root, for the apps' users.
"""
import base64
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from account_faults import (
    the_command_names_a_daemon_that_hangs, a_second_daemon_is_refused, malformed_requests_do_no_harm,
    a_full_disk_of_the_box_loses_no_decision)
from account_figures import (
    an_app_starts_quickly, exchanges_are_compared_with_approvals, regent_sso_status_is_quick,
    the_daemon_needs_little_memory)
from account_world import APPS, LIMIT, ROOT, App, World, wait

programs, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
pick = random.Random(seed)


def all_apps_use_one_sign_in_of_the_box():
    world.sign_in()
    for app in apps:
        assert app.ask("platform", "APP")["permission"] == "undetermined"
        world.regent("sso", "grant", app.name)
        assert world.come_in(app, app.name) is True
        assert world.is_in(app.name)
        told = app.ask("platform_account", "APP")
        assert told["provider"] == "local" and told["app"] == app.name, told
    picked = apps[0].ask("platform_picker", "APP")
    assert [provider["id"] for provider in picked["providers"]] == ["local"], picked
    stranger = App(APPS, world.socket)
    stranger.begin("platform", "APP")
    assert stranger.end()[0] == "not-an-app"
    stranger.begin("platform_account", "APP")
    assert stranger.end()[0] == "not-an-app"


def the_example_for_kodi_signs_in():
    """docs/examples/kodi/account.py, run as an add-on of another user."""
    key, app = world.keys["APP"], apps[6]
    words = [f"http://{world.host}", "APP", key["publicKey"], key["secret"], "kodi-1"]
    script = f"import account; print(account.come_in(*{words!r}))"
    there = world.plain | {
        "PYTHONPATH": f"{world.home}/kodi", "REGENT_AGENT_SOCKET": world.socket, "PYTHONDONTWRITEBYTECODE": "1"}
    os.makedirs(f"{world.home}/kodi", exist_ok=True)
    for file in ("docs/examples/kodi/account.py", "deploy/python/regent.py"):
        shutil.copy(ROOT / file, f"{world.home}/kodi/")

    def come_in():
        done = subprocess.run(
            ["setpriv", f"--reuid={app.user}", f"--regid={app.user}", "--clear-groups", "python3", "-c", script],
            env=there, cwd="/", capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert come_in() == "True" and world.is_in("kodi-1")
    world.regent("sso", "deny", app.name)
    assert come_in().startswith("Allow this add-on") and not world.is_in("kodi-1")
    world.regent("sso", "grant", app.name)


def the_viewer_answers_requests_of_apps():
    asks, other = apps[0], apps[1]
    world.regent("sso", "reset", asks.name)
    asks.begin("platform_access", "APP", True, 20)
    prompts = subprocess.Popen(
        [f"{programs}/regent", "sso", "prompts", "--json"], env=world.box, stdout=subprocess.PIPE, text=True)
    try:
        event = json.loads(prompts.stdout.readline())
        assert event["app"] == asks.name and event["question"] == "access", event
        world.regent("sso", "grant", asks.name)
        code, answer = asks.end()
        assert code is None and answer["permission"] == "granted" and answer["prompt"] == "open", answer
        # A signed-in app asks to sign the box out; the viewer only revokes that app's permission.
        other.begin("platform_sign_out", "APP", 20)
        event = json.loads(prompts.stdout.readline())
        assert event["app"] == other.name and event["question"] == "sign-out", event
        world.regent("sso", "deny", other.name)
        code, answer = other.end()
        assert code is None and answer["permission"] == "denied" and answer["prompt"] == "open", answer
        world.regent("sso", "grant", other.name)
    finally:
        prompts.kill()
        prompts.wait()


# The obstacles between an app and the account, in the order in which an app meets them: how to cause it, how to end it,
# the error of an app that wants to sign in, and whether a signed-in app is out at its next check (None: either).
CONDITIONS = {
    "integration off": (("control", "integrate", "APP", "local", "--off"), ("control", "integrate", "APP", "local", "--on"),
                        "request: 400", True),
    "single sign-on off": (("control", "integrate", "APP", "local", "--sso", "off"),
                           ("control", "integrate", "APP", "local", "--sso", "on"), "request: 400", True),
    "boarding": (("control", "provider", "set", "local", "--boarding", "picker"),
                 ("control", "provider", "set", "local", "--boarding", "supported"), "request: 400", None),
    "degraded": (("control", "integrate", "APP", "local", "--degrade", "authz-all"),
                 ("control", "integrate", "APP", "local", "--degrade", "off"), "request: 400", None),
    "denied": (("regent", "sso", "deny", "app0"), ("regent", "sso", "grant", "app0"), "word: denied", True),
    "undetermined": (("regent", "sso", "reset", "app0"), ("regent", "sso", "grant", "app0"), "word: undetermined", True),
    "signed out": (("regent", "sso", "sign-out"), ("sign_in",), "word: not-signed-in", True),
}


# What the SDK reports at its start; nothing for the other conditions.
TOLD = {"denied": "status VSA403", "undetermined": "status VSA404"}
# Conditions that only keep out an app that is not signed in yet.
FOR_NEWCOMERS = ("boarding", "degraded")


def every_obstacle_alone_and_every_pair_gives_its_error():
    """Tries each with two apps; a decision about the first app must not affect the second."""
    def act(words):
        getattr(world, words[0])(*words[1:])

    def starts(app, met, case):
        """Starts the SDK with the app's store, and with an empty one."""
        told = [TOLD[one] for one in met if one in TOLD]
        stays = all(one in FOR_NEWCOMERS for one in met)
        for store, is_in in (("kept", stays), (f"new-{case}", not met)):
            found = world.start_sdk(app, store)
            wanted = told + ["in platform local" if is_in else "out"]
            assert found == wanted, f"{met}: the SDK of {app.name}, store {store}: {found}, not {wanted}"

    for app in apps[:2]:
        assert world.start_sdk(app, "kept") == ["in platform local"]
    pairs = [(one,) for one in CONDITIONS] + list(itertools.combinations(CONDITIONS, 2))
    for case, broken in enumerate(pairs):
        if set(broken) == {"denied", "undetermined"}:
            continue
        for app in apps[:2]:
            assert world.come_in(app, app.name) is True, f"before {broken}"
        for one in broken:
            act(CONDITIONS[one][0])
        met = [one for one in CONDITIONS if one in broken]
        others = [one for one in met if one not in ("denied", "undetermined")]
        for app, mine in ((apps[0], met), (apps[1], others)):
            ends = [CONDITIONS[one][3] for one in mine]
            if True in ends or None not in ends:
                is_out = True in ends
                wait(lambda: world.is_in(app.name) != is_out, f"{app.name} {'out' if is_out else 'in'} after {broken}")
            wanted = CONDITIONS[mine[0]][2] if mine else True
            found = world.come_in(app, app.name)
            assert found == wanted, f"{broken}: {app.name} hears {found}, not {wanted}"
            starts(app, mine, case)
        for one in reversed(broken):
            act(CONDITIONS[one][1])
        for app in apps[:2]:
            wait(lambda: world.come_in(app, app.name) is True, f"way in for {app.name} after {broken} was mended")
            assert world.start_sdk(app, "kept") == ["in platform local"], f"{app.name} after {broken} was mended"
    print(f"   {len(pairs) - 1} conditions and pairs")


def a_kill_at_any_step_of_an_exchange_loses_nothing():
    # The sign-out of the box in the step before has signed out all apps.
    for app in apps:
        assert world.come_in(app, app.name) is True
    for kill in (world.kill_service, world.kill_daemon):
        for step in ("before", "request", "word", "exchange"):
            app, device = pick.choice(apps), f"step-{kill.__name__}-{step}"
            if step == "before":
                kill()
            status, request = world.request(device)
            assert status == 200
            if step == "request":
                kill()
            word = app.ask("platform_account", "APP", "local", base64.b64encode(request).decode())["assertion"]
            if step == "word":
                kill()
            assert world.exchange(device, word) == 204
            if step == "exchange":
                kill()
            assert world.is_in(device), f"{kill.__name__} {step}: the app is out"
            assert world.exchange(device, word) == 400, "an answer counts twice"
            assert world.is_in(app.name), "another sign-in of the app is gone"


def a_kill_at_a_random_moment_loses_nothing():
    finished = 0
    for number in range(count):
        app, device = pick.choice(apps), f"between-{number}"
        kill = pick.choice((world.kill_service, world.kill_daemon))
        done = []
        way = threading.Thread(target=lambda: done.append(world.come_in(app, device)))
        way.start()
        time.sleep(pick.random() * 0.03)
        kill()
        way.join(timeout=LIMIT * 3)
        assert done, "a call does not end"
        if done[0] is True:
            finished += 1
            assert world.is_in(device), "told that it is in, and is not"
        else:
            assert world.come_in(app, device) is True, f"after {done[0]}: does not come in any more"
        assert world.is_in(device)
        assert app.ask("platform", "APP")["permission"] == "granted"
    print(f"   {count} kills within an exchange, {finished} of them completed")
    # An app's waiting call also ends when the daemon is killed.
    apps[2].begin("platform_access", "APP", True, 20)
    world.kill_daemon()
    apps[2].end()


def a_restart_under_load_loses_nothing():
    ends, told, lock = threading.Event(), [], threading.Lock()

    def come_in_again_and_again(app):
        for number in itertools.count():
            if ends.is_set():
                return
            device = f"load-{app.name}-{number % 8}"
            if world.come_in(app, device) is True:
                with lock:
                    told.append(device)

    threads = [threading.Thread(target=come_in_again_and_again, args=(app,)) for app in apps[:8]]
    for thread in threads:
        thread.start()
    for _ in range(3):
        before = len(told)
        wait(lambda: len(told) > before + 20, "exchanges under load")
        assert world.service.stop() == 0
        world.start_service()
    ends.set()
    for thread in threads:
        thread.join(timeout=LIMIT * 3)
        assert not thread.is_alive(), "a call does not end"
    lost = [device for device in set(told) if not world.is_in(device)]
    assert not lost, f"told that they are in, and are not: {lost}"
    print(f"   {len(told)} exchanges around three restarts, none lost")


def a_sign_out_reaches_a_service_that_was_down():
    """The box is signed out while the service is down; when it is back, the apps are out without asking."""
    app = apps[2]
    assert world.come_in(app, app.name) is True
    world.service.kill()
    world.regent("sso", "sign-out")
    world.start_service()
    wait(lambda: not world.is_in(app.name), "end of the app's sign-in")
    world.sign_in()
    for one in apps:
        assert world.come_in(one, one.name) is True, one.name


def the_box_notices_a_sign_out_at_the_service():
    """A sign-out by an operator, or by the viewer on the phone, reaches the box through its long poll."""
    app = apps[2]
    assert world.come_in(app, app.name) is True and world.is_signed_in()
    boxes = json.loads(world.control("platform", "list"))
    assert len(boxes) == 1, boxes
    world.control("platform", "sign-out", boxes[0]["id"], "--yes")
    begun = time.monotonic()
    wait(lambda: not app.ask("platform", "APP")["signedIn"], "word of the sign-out")
    took = time.monotonic() - begun
    assert took < 2 and not world.is_signed_in(), f"noticed after {took:.2f} s"
    print(f"   noticed after {took:.3f} s (bar 2)")
    world.sign_in()
    for one in apps:
        assert world.come_in(one, one.name) is True, one.name


def the_next_viewer_decides_again():
    world.regent("sso", "deny", apps[1].name)
    world.regent("sso", "sign-out")
    world.sign_in("other")
    assert world.come_in(apps[0], apps[0].name) == "word: undetermined"
    assert world.come_in(apps[1], apps[1].name) == "word: denied"
    world.regent("sso", "grant", apps[0].name)
    assert world.come_in(apps[0], apps[0].name) is True
    world.sign_in_anew()
    assert world.come_in(apps[0], apps[0].name) == "word: undetermined", "taken over from the other viewer"
    for one in apps:
        world.regent("sso", "grant", one.name)
        # After a denial it takes a moment until the service knows the new decision.
        wait(lambda one=one: world.come_in(one, one.name) is True, f"sign-in of {one.name}")


STEPS = (
    all_apps_use_one_sign_in_of_the_box, the_example_for_kodi_signs_in, the_viewer_answers_requests_of_apps,
    every_obstacle_alone_and_every_pair_gives_its_error, a_kill_at_any_step_of_an_exchange_loses_nothing,
    a_kill_at_a_random_moment_loses_nothing,
    a_restart_under_load_loses_nothing, a_sign_out_reaches_a_service_that_was_down,
    the_box_notices_a_sign_out_at_the_service, the_next_viewer_decides_again)
# These are in other files and get the world and the apps as arguments.
APART = (
    a_full_disk_of_the_box_loses_no_decision, a_second_daemon_is_refused, the_command_names_a_daemon_that_hangs,
    malformed_requests_do_no_harm,
    the_daemon_needs_little_memory, an_app_starts_quickly, regent_sso_status_is_quick,
    exchanges_are_compared_with_approvals)

if os.geteuid():
    sys.exit(print("account: NOT RUN, only root can run the apps as different users"))
home = tempfile.mkdtemp(prefix="regent-account-")
os.chmod(home, 0o711)
try:
    world, apps = World(home, programs, count, pick), []
    world.provision()
    world.start_daemon()
    apps = [App(number, world.socket) for number in range(APPS)]
    for step in STEPS + APART:
        begun = time.monotonic()
        step() if step in STEPS else step(world, apps)
        print(f"ok {step.__name__.replace('_', ' ')} ({time.monotonic() - begun:.1f} s)", flush=True)
except BaseException as problem:
    print(f"account: {problem!r} (seed {seed})", file=sys.stderr)
    for log in ("log", "daemon.log"):
        text = pathlib.Path(home, log)
        if text.exists():
            print("\n".join(text.read_text().splitlines()[-12:]), file=sys.stderr)
    raise
finally:
    for process in filter(None, [getattr(world, "daemon", None), world.service.process] if "world" in globals() else []):
        process.kill()
        process.wait()
    subprocess.run(["umount", f"{home}/box"], capture_output=True)
    shutil.rmtree(home, ignore_errors=True)
