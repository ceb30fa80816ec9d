"""The figures of account.py, for release programs: the daemon's memory, and the times of starts and calls."""

import base64
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import threading
import time

from account_world import APPS, wait
from counting import Connection


def the_daemon_needs_little_memory(world, apps):
    for app in apps:
        app.ask("platform", "APP")
    status = pathlib.Path(f"/proc/{world.daemon.pid}/status").read_text()
    print(f"   RssAnon of the daemon with {APPS} apps: {int(re.search(r'RssAnon:[^0-9]*([0-9]+)', status)[1])} KiB (bar 8,192)")

    def woken():
        switches = 0
        for task in pathlib.Path(f"/proc/{world.daemon.pid}/task").iterdir():
            switches += int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", (task / "status").read_text())[1])
        return switches

    before = woken()
    time.sleep(10)
    print(f"   {woken() - before} wake-ups in ten seconds without a call")


def an_app_starts_quickly(world, apps):
    world.regent("sso", "grant", "probe")
    key = world.keys["APP"]
    with subprocess.Popen(
            [f"{world.programs}/SDKProbe", "account", f"http://{world.host}", "APP", key["publicKey"], key["secret"],
             world.socket, "50"], env=world.plain, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as probe:
        for device in iter(lambda: probe.stdout.readline().strip(), "devices"):
            assert device, "the probe has ended"
            world.sign_in_by_itself(device)
        said, _ = probe.communicate("\n", timeout=300)
    assert probe.returncode == 0, said
    print("".join(f"   {line}\n" for line in said.splitlines()), end="")


def regent_sso_status_is_quick(world, apps):
    agent = shutil.which("ssh-agent") and shutil.which("ssh-add")
    if not agent:
        return print("   NOT RUN: no ssh-agent")
    path = f"{world.home}/ssh-agent"
    running = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        wait(lambda: os.path.exists(path), "ssh-agent")
        key = f"{world.home}/id"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        there = world.plain | {"SSH_AUTH_SOCK": path}
        # As on a box with its settings in /etc, so that the command gets no settings to compare.
        here = world.plain | {"XDG_RUNTIME_DIR": world.home}
        subprocess.run(["ssh-add", "-q", key], env=there, check=True, stderr=subprocess.DEVNULL)
        times = {"regent sso status": [], "ssh-add -l": []}
        for _ in range(60):
            for name, words, environment in (
                ("regent sso status", [f"{world.programs}/regent", "sso", "status"], here),
                ("ssh-add -l", ["ssh-add", "-l"], there),
            ):
                begun = time.perf_counter()
                subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
                times[name].append((time.perf_counter() - begun) * 1000)
        print("   " + ", ".join(f"{name}: {statistics.median(took[5:]):.2f} ms" for name, took in times.items()))
    finally:
        running.kill()
        running.wait()


def exchanges_are_compared_with_approvals(world, apps):
    def rate(work):
        lanes = [work[lane::8] for lane in range(8)]
        threads = [threading.Thread(target=lambda lane=lane: [one() for one in lane]) for lane in lanes]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(work) / (time.perf_counter() - begun)

    rates = {"approvals": [], "exchanges": []}
    for turn in range(3):
        # A new sign-in of the box, without apps. With more than 16 sign-ins of an app, each further one would end
        # another, because a box could invent devices for its apps.
        world.regent("sso", "sign-out")
        world.sign_in()
        codes = []
        for number in range(240):
            status, body = world.call("POST", "/reggie/v1/APP/regcode", f"rate-{turn}-{number}", {})
            assert status == 201, body
            codes.append(json.loads(body)["code"])
        words = []
        for number in range(240):
            app, device = apps[number % APPS], f"word-{turn}-{number}"
            request = base64.b64encode(world.request(device)[1]).decode()
            word = app.ask("platform_account", "APP", "local", request)["assertion"]
            # Signed before the time is taken, because the service is measured and not Python's signatures.
            words.append(world.written(*world.exchanged(device, word)))
        local, admin = threading.local(), f"{world.home}/service/admin.sock"
        body = b'{"provider": "local", "account": "demo"}'

        def connection(name, address):
            if not hasattr(local, name):
                setattr(local, name, Connection(address))
            return getattr(local, name)

        def approve(code):
            connection("admin", admin).ask(
                f"POST /v1/codes/{code}/approve HTTP/1.1\r\nHost: regent\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n", 200, body)

        def exchange(head, body):
            connection("device", ("127.0.0.1", world.port)).ask(head, 204, body)

        rates["approvals"].append(rate([lambda code=code: approve(code) for code in codes]))
        rates["exchanges"].append(rate([lambda one=one: exchange(*one) for one in words]))
    medians = {name: statistics.median(found) for name, found in rates.items()}
    print(f"   {medians['exchanges']:.0f} exchanges a second, {medians['approvals']:.0f} approvals: "
          f"{medians['exchanges'] / medians['approvals']:.2f} (bar 0.50)")
