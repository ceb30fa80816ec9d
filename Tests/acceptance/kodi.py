#!/usr/bin/env python3
"""The Kodi module outside of Kodi, from the built zip, with a real regentd, a real regent daemon and hostile servers.

    kodi.py PROGRAMS [--only WORD]

PROGRAMS is the folder with regentd, regentctl and regent. The viewer's phone uses the real pages. Every Python from 3.8
to 3.13 on this machine signs in once; the missing ones are printed. kodi_real.py does the same in a real Kodi.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

from kodi_house import HERE, ROOT, Browser, House, Pairing, finish, hostile, refuses, verified
from kodi_parts import fonts, pictures, proxies, repository, screens, vectors
from regentd import serve
from service import PATIENCE, REQUESTOR, Service, until


def enrolment(house):
    from regent.service import Service as Box
    from regent.storage import Storage
    box = house.box(enrolled=False)
    with refuses("not-enrolled"):
        box.status()
    for wrong, code in (("nonsense", "enrolment-code"), ("0000-0000-0000-0000", "address"), ("tv#0000000000000000", "address"),
                        (house.service.inside + "#0000-0000-0000-0000", "enrolment-code"),
                        (house.service.inside + "/elsewhere#0000-0000-0000-0000", "captive-portal")):
        with refuses(code):
            box.enrol(wrong)
    whole = house.invite()
    address, letters = whole.split("#")
    box.enrol(f"  {address}#{letters.lower().replace('-', ' ').replace('0', 'o').replace('1', 'l')} ")
    first = box.storage.read("credentials.json")
    # As if killed before writing the file: the same device asks again and gets the same key pair; another device does
    # not.
    box.storage.remove("credentials.json")
    box.enrol(whole)
    assert box.storage.read("credentials.json") == first
    with refuses("enrolment-code"):
        house.box(enrolled=False).enrol(whole)
    # A redeemed code is not sent again, so this also works while the service is down.
    text = json.dumps(first).replace(address, "http://127.0.0.1:9")
    box.storage.write("credentials.json", json.loads(text))
    box.enrol("http://127.0.0.1:9#" + letters)
    assert first["secret"] not in repr(vars(Box(Storage(box.storage.folder))))


def sign_in(house):
    box = house.box()
    with refuses("not-signed-in"):
        box.media_token("channel-1")
    pairing = Pairing(box)
    code = pairing.event("code")
    assert re.match(r"[B-Z]{4}-[B-Z]{4}$", code["display"]) and "/D/" + code["code"] in code["url"] and code["seconds"] > 1700, code
    with refuses("busy"):
        list(box.pair())
    phone = Browser(house)
    phone.open("/D/" + code["code"])
    phone.send(f"/D/{code['code']}/open")
    pairing.event("opened")
    finish(phone, code["code"], "approve")
    assert pairing.ends()[-1] == "authenticated", pairing.names
    wanted = {"signedIn": True, "requestor": REQUESTOR, "provider": "aurora", "providerName": "Aurora TV"}
    assert wanted.items() <= box.status().items(), box.status()
    assert verified(house, box.media_token("channel-1"), "channel-1")
    assert sorted(box.preauthorize(["channel-1", "other", "channel-1,2"])) == ["channel-1", "channel-1,2"]
    assert box.preauthorize(["channel-1,2"]) == ["channel-1,2"]
    with refuses("not-authorized"):
        box.media_token("other")
    assert box.refresh()["signedIn"]
    # Files are private whatever the umask of the process, and become private again after another program has copied
    # them.
    before = os.umask(0)
    box.storage.write("umask.json", {})
    os.umask(before)
    place = pathlib.Path(box.storage.folder, "umask.json")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    place.chmod(0o644)
    assert box.storage.read("umask.json") == {} and stat.S_IMODE(place.stat().st_mode) == 0o600
    for path in pathlib.Path(box.storage.folder).iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    # After the operator has signed the box out, as on the phone, the next call notices it.
    house.control("device", "sign-out", box.caller().device, "--yes")
    with refuses("not-signed-in"):
        box.preauthorize(["channel-1"])
    with refuses("not-signed-in"):
        box.media_token("channel-1")
    assert not box.status()["signedIn"] and not box.sign_out()


def disabled_account(house):
    """A device whose account an operator disables says so, plays again when the account is enabled, and may meanwhile
    sign in anew."""
    box = house.box()
    pairing = Pairing(box)
    house.phone(pairing.event("code")["code"], "approve")
    pairing.ends()

    def refuses_all():
        for call in (lambda: box.media_token("channel-1"), lambda: box.preauthorize(["channel-1", "other"])):
            with refuses("not-signed-in", "the account is disabled"):
                call()
            assert box.status() == {"signedIn": False, "requestor": REQUESTOR, "accountDisabled": True}, box.status()
        assert box.refresh()["accountDisabled"] and not box.refresh()["signedIn"]

    house.control("account", "disable", "aurora", "anna")
    refuses_all()
    pairing = Pairing(box)
    pairing.event("code")
    box.leave()
    assert pairing.ends() == ["error", "code"] and pairing.events[0]["code"] == "not-signed-in", pairing.events
    house.control("account", "enable", "aurora", "anna")
    assert verified(house, box.media_token("channel-1"), "channel-1") and box.status()["signedIn"]
    house.control("account", "disable", "aurora", "anna")
    refuses_all()
    house.control("account", "enable", "aurora", "anna")
    assert box.refresh()["signedIn"] and "accountDisabled" not in box.status()
    assert box.sign_out() and box.state() == {}


def answers(house):
    """A denial, right and wrong numbers, an expiry, a code that the operator withdraws, and a viewer who leaves."""
    box = house.box()
    pairing = Pairing(box)
    house.phone(pairing.event("code")["code"], "deny")
    assert pairing.ends()[-1] == "denied", pairing.names
    for change in (0, 1):
        pairing = Pairing(box, number_matching=True)
        code = pairing.event("code")["code"]
        house.phone(code, "approve", lambda: (pairing.event("match")["number"] - 10 + change) % 90 + 10)
        assert pairing.ends()[-1] == ("denied" if change else "authenticated"), pairing.names
    pairing = Pairing(box, lifetime=2, force=True)
    assert pairing.ends() == ["code", "expired"], pairing.names
    pairing = Pairing(box)
    house.control("code", "withdraw", pairing.event("code")["code"])
    second = pairing.event("code", 2)["code"]
    # When the viewer leaves, the code is withdrawn and the next pairing has another.
    started = time.monotonic()
    box.leave()
    pairing.ends()
    assert time.monotonic() - started < 3 and "pending" not in box.state()
    assert house.control("code", "show", second, "--json")["state"] == "withdrawn"
    # When Kodi exits, the code is kept and shown again after the next start.
    pairing = Pairing(box)
    third = pairing.event("code")["code"]
    box.leave(keeps_code=True)
    pairing.ends()
    pairing = Pairing(box)
    assert pairing.event("code")["code"] == third != second
    box.leave()
    pairing.ends()


def away(house):
    """The service is killed while a code is shown, and restarted at the same address."""
    from regent import pairing as module
    programs = house.service.programs
    with tempfile.TemporaryDirectory(prefix="regent-kodi-") as home:
        other = House.__new__(House)
        other.home, other.count, other.repository = pathlib.Path(home), 0, house.repository
        other.service = Service(programs)
        other.url, other.control, other.context = other.service.url, other.service.control, None
        quiet, module._SILENCE = module._SILENCE, 1
        try:
            box = other.box()
            pairing = Pairing(box)
            code = pairing.event("code")["code"]
            other.service.regentd.kill()
            assert pairing.event("error")["code"] == "unreachable"
            place = other.service.inside.split("//")[1]
            other.service.regentd = serve(
                programs, other.service.folder.name, "--web", pathlib.Path(other.service.folder.name, "web"),
                environment=other.service.environment, listen=place)
            pairing.event("recovered")
            other.phone(code, "approve")
            assert pairing.ends()[-1] == "authenticated", pairing.names
            other.service.regentd.kill()
            with refuses("unreachable"):
                box.sign_out()
            assert not box.status()["signedIn"]
        finally:
            module._SILENCE = quiet
            other.service.folder.cleanup()


def kills(house):
    """Kills before and after every call that changes a file or connects: one device, one sign-in, complete files."""
    def run(folder, code, limit):
        child = subprocess.Popen(
            [sys.executable, "-B", HERE / "kodi_box.py", house.repository.module, folder, "--kill", str(limit), "enrol", code, "pair",
             "token", "channel-1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        device = None
        for line in child.stdout:
            said = json.loads(line)
            if said.get("event") == "code":
                codes.append(said["code"])
                house.control("code", "approve", said["code"], "--provider", "aurora", "--account", "anna")
            if "steps" in said:
                steps.append(said["steps"])
                device = said["device"]
        assert child.wait(PATIENCE) in (0, -9), child.stderr.read()
        child.stderr.close()
        return child.returncode, device

    steps, codes = [], []
    run(house.folder(), house.invite(), 0)
    total = steps[-1]
    assert total > 60, total
    devices, codes = set(), []
    for limit in range(1, total + 1):
        if limit % 50 == 1:
            code = house.invite(uses=100)
        folder = house.folder()
        assert run(folder, code, limit)[0] == -9, limit
        for path in pathlib.Path(folder).glob("*.json"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600 and json.loads(path.read_text()), path
        status, device = run(folder, code, 0)
        assert status == 0, limit
        devices.add(device)
        assert not list(pathlib.Path(folder).glob("*.new")), limit
    assert len(devices) == total
    print(f"   {total} kills", flush=True)


def strangers(house):
    """A server in the service's place learns nothing and cannot store credentials or an address."""
    from regent.daemon import RegentError
    letters = house.invite().split("#")[1]
    box = house.box(enrolled=False)
    for reply, code in (
            ((200, {}, b'{"sealed":"01000000' + b"00" * 60 + b'"}'), "not-the-service"), ((200, {}, b"<html>"), "not-the-service"),
            ((200, {}, b'{"sealed":5}'), "not-the-service"), ((302, {"Location": house.url}, b""), "captive-portal"),
            ((200, {}, b" " * 70000), "captive-portal"), ((503, {"Retry-After": "7"}, b""), "busy")):
        with hostile(lambda handler, body: reply) as (server, address):
            with refuses(code):
                box.enrol(f"{address}#{letters}")
            assert server.seen == ["/o/box/enrol"]
    assert not box.is_enrolled
    # The login page of a hotel's network must not sign a box out.
    box = house.box()
    pairing = Pairing(box)
    house.phone(pairing.event("code")["code"], "approve")
    pairing.ends()
    known = box.storage.read("credentials.json")
    for reply, code in (((403, {}, b"<html>sign in</html>"), "captive-portal"), ((404, {}, b""), "captive-portal"),
                        ((302, {"Location": house.url}, b'{"message":"Found"}'), "captive-portal"), ((500, {}, b"oops"), "service")):
        with hostile(lambda handler, body: reply) as (server, address):
            box.storage.write("credentials.json", {**known, "service": address})
            with refuses(code):
                box.media_token("channel-1")
            with refuses(code):
                box.refresh()
            assert all(path.startswith("/api/v1/") for path in server.seen)
    assert box.status()["signedIn"]
    record = {"code": "BCDFGHJK", "expires": int(time.time() * 1000) + 600000, "state": "offered", "sequence": 1}
    for page in ("http://evil.example/", "https://127.0.0.1.evil.example/", "javascript:alert(1)", "", "http://user@evil.example/",
                 "http://evil.example\\@127.0.0.1/", "http://evil.example%5C@127.0.0.1/", "http://user@127.0.0.1/",
                 "http://127.0.0.1/\n", "http://127.0.0.1/\"<b>", "http://127.0.0.1/#x", "http://[", ["http://127.0.0.1/"]):
        reply = (201, {"Content-Type": "application/json"}, json.dumps(
            {**record, "verificationURL": page, "verificationURLComplete": page}).encode())
        with hostile(lambda handler, body: reply) as (server, address):
            box.storage.write("credentials.json", {**known, "service": address})
            with refuses("foreign-address"):
                list(box.pair(force=True))
    odd = [b"[" * 60000, b"[]", b"{}", *(b'{"mvpd":"x","expires":' + value + b"}" for value in (
        b"1e999", b"NaN", b"-1", b'"' + b"9" * 5000 + b'"', b"9" * 4000, b"null", b"[]", b"true"))]
    for text in odd:
        reply = (200, {"Content-Type": "application/json"}, text)
        with hostile(lambda handler, body: reply) as (server, address):
            box.storage.write("credentials.json", {**known, "service": address})
            try:
                raise AssertionError(f"{text[:40]} was kept: {box.refresh()}")
            except RegentError:
                pass
    for wait in ("9" * 5000, "\u00b2", "-1"):
        with hostile(lambda handler, body: (503, {"Retry-After": wait}, b"{}")) as (server, address):
            box.storage.write("credentials.json", {**known, "service": address})
            with refuses("service"):
                box.refresh()


def slow(house):
    """A call ends at its deadline, also when the service sends a byte now and then."""
    from regent.wire import Failure, Line
    for head in (b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def drip():
                with server.accept()[0] as connection, contextlib.suppress(OSError):
                    connection.sendall(head)
                    while True:
                        connection.sendall(b" ")
                        time.sleep(0.1)
            threading.Thread(target=drip, daemon=True).start()
            started = time.monotonic()
            try:
                answer = Line(f"http://127.0.0.1:{server.getsockname()[1]}").send("GET", "/", timeout=1)
                raise AssertionError(f"the call ended with {answer.status}")
            except Failure as failure:
                assert failure.code == "unreachable" and "timed out" in failure.message, failure.message
            assert time.monotonic() - started < 10


def clocks(house):
    """A device whose clock is two hours off corrects itself by the service's Date."""
    box = house.box()
    box.caller().line.clock._anchor = (time.time() - 7200, time.monotonic())
    assert box.refresh() == {"signedIn": False, "requestor": REQUESTOR}
    assert abs(box.caller().line.clock.now() - time.time()) < 5


def daemon(house):
    """The daemon signs in when a `regent daemon` listens and the device has no key pair."""
    from regent.local import Daemon
    home = house.home / "daemon"
    home.mkdir()
    with open(os.open(home / "secret", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(house.service.key["secret"])
    assert not Daemon(f"{home}/regent/agent.sock").is_there
    # A Kodi that a service manager starts has neither environment variable.
    bare = subprocess.run(
        [sys.executable, "-B", "-c", "from regent.local import Daemon; print(*Daemon().paths)"], text=True, capture_output=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(house.repository.module)}, timeout=PATIENCE)
    assert bare.stdout == "/run/regent/agent.sock\n", bare
    # Kodi 20 finds Debian's python3-regent first: it gives way to the module, and acts itself where there is no module.
    for more, wanted in ((f":{house.repository.module}", "True True"), ("", "False True")):
        found = subprocess.run(
            [sys.executable, "-B", "-c", "import regent; from regent import Regent; print(hasattr(regent, 'media_token'), Regent().timeout == 60)"],
            text=True, capture_output=True, timeout=PATIENCE,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "deploy/python") + more})
        assert found.stdout.strip() == wanted, found
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8", "XDG_RUNTIME_DIR": str(home), "REGENT_SERVICE": house.service.inside,
        "REGENT_REQUESTOR": REQUESTOR, "REGENT_PUBLIC_KEY": house.service.key["publicKey"], "REGENT_SECRET_FILE": f"{home}/secret",
        "REGENT_STATE": f"{home}/state"}
    process = subprocess.Popen([house.service.programs / "regent", "daemon"], env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        box = Daemon(f"{home}/regent/agent.sock")
        until("the daemon listens", lambda: box.is_there)
        pairing = Pairing(box)
        code = pairing.event("code")["code"]
        box.leave()
        pairing.ends()
        assert house.control("code", "show", code, "--json")["state"] == "withdrawn"
        pairing = Pairing(box)
        house.phone(pairing.event("code")["code"], "approve")
        assert pairing.ends()[-1] == "authenticated" and box.status()["signedIn"]
        assert verified(house, box.media_token("channel-1"), "channel-1")
        assert box.sign_out()
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def signs_in(house, *python):
    """Enrols and signs in a box with this Python, and verifies its media token with openssl."""
    child = subprocess.Popen(
        [*python, "-B", "-W", "error", HERE / "kodi_box.py", house.repository.module, house.folder(), "enrol", house.invite(), "pair",
         "token", "channel-1"], stdout=subprocess.PIPE, text=True)
    is_verified = False
    for line in child.stdout:
        said = json.loads(line)
        if said.get("event") == "code":
            house.control("code", "approve", said["code"], "--provider", "aurora", "--account", "anna")
        if "token" in said:
            is_verified = verified(house, said["token"], "channel-1")
    assert child.wait(PATIENCE) == 0 and is_verified, python
    child.stdout.close()


def pythons(house):
    """Each Python that Kodi has, from 3.8 in Kodi 19 to 3.13 in Debian's Kodi 21."""
    missing = []
    for minor in range(8, 14):
        places = [shutil.which(f"python3.{minor}"), *pathlib.Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3")]
        for place in filter(None, places):
            if subprocess.run([place, "-c", ""], capture_output=True).returncode == 0:
                break
        else:
            missing.append(f"3.{minor}")
            continue
        signs_in(house, place)
    print(f"   not on this machine: Python {', '.join(missing)}" if missing else "   Python 3.8 to 3.13", flush=True)


STORIES = (vectors, proxies, pictures, screens, fonts, repository, enrolment, sign_in, disabled_account, answers, away, kills, strangers, slow, clocks, daemon,
           pythons)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="regent-kodi-") as home:
        house = House(options.programs.resolve(), home)
        try:
            for story in STORIES:
                if options.only in story.__name__:
                    started = time.monotonic()
                    story(house)
                    print(f"ok {story.__name__} ({time.monotonic() - started:.1f} s)", flush=True)
        finally:
            house.service.stop()


if __name__ == "__main__":
    main()
