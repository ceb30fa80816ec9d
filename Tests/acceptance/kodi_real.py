#!/usr/bin/env python3
"""A real Kodi of Debian 13 (--suite: of another release), add-ons from `make kodi`, a real regentd, and a phone.

From the repository's zip to playing with a media token.

    kodi_real.py PROGRAMS [--only WORD] [--keep FOLDER] [--suite bookworm]

PROGRAMS is the folder with regentd, regentctl and regent. Needs root, for a Debian with Kodi in .build/kodi-SUITE and
for new namespaces. --keep FOLDER keeps the screenshots.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from kodi_house import ROOT, Browser, finish
from kodi_machine import USER, enter, make_root
from kodi_stage import Stage, fails
from regentd import serve
from service import until

# Seconds from the start of Kodi until it requests the stream with a token.
BAR = 20


def journey(stage):
    """The zip, the add-on, the code, the phone, playing."""
    box = stage.set_up("journey")
    answer = stage.play()
    code = stage.code()
    for scale in (50, 25):
        assert "/D/" + code in stage.shown("code", scale), f"zbar does not read the screenshot at {scale} %"
    settings = (box.data / "userdata/addon_data/script.module.regent/settings.xml").read_text()
    assert "#" not in re.sub("<!--.*?-->", "", settings), settings
    phone = Browser(stage.house)
    phone.open("/D/" + code)
    phone.send(f"/D/{code}/open")
    until("the screen says it", lambda: box.text(114).startswith("A phone is connected. Go on there."))
    stage.shot("connected")
    finish(phone, code, "approve")
    said = stage.played(answer)
    assert "/script.module.regent/lib/regent/" in said["file"], said["file"]
    profile = box.data / "userdata/addon_data/script.module.regent"
    secret = (profile / "credentials.json").read_text()
    for path in profile.iterdir():
        mode = path.stat().st_mode & 0o777
        assert path.name == "settings.xml" or mode == 0o600, (path, oct(mode))
    assert not list((box.data / "temp").glob("regent-*.png"))
    for path in box.data.rglob("*"):
        if path.is_file() and path.name != "credentials.json":
            assert secret.split('"secret": "')[1].split('"')[0].encode() not in path.read_bytes(), path
    # After a restart, as on the next day.
    box.stop()
    started = time.monotonic()
    box.start()
    stage.played(stage.play())
    took = time.monotonic() - started
    assert took < BAR, took
    print(f"   from Kodi's start to playing, signed in: {took:.1f} s", flush=True)
    # After a sign-out on the phone, one code and one approval suffice.
    stage.house.control("device", "sign-out", "--requestor", "cinema", "--yes")
    box.stop()
    started = time.monotonic()
    box.start()
    answer = stage.play()
    fails(box, answer, "not-signed-in")
    answer = stage.play()
    stage.house.phone(stage.code(), "approve")
    stage.played(answer)
    took = time.monotonic() - started
    assert took < BAR, took
    print(f"   from Kodi's start to playing, with a phone's sign-in: {took:.1f} s", flush=True)


def remote(stage):
    """Only the remote control: leaving, a new code, a denial, number matching, status and signing out."""
    box = stage.set_up("remote")
    answer = stage.play()
    first = stage.code()
    box.press("Back")
    fails(box, answer, "cancelled")
    assert stage.house.control("code", "show", first, "--json")["state"] == "withdrawn"
    answer = stage.play()
    second = stage.code()
    assert second != first
    box.focus("new code", "Left")
    box.press("Select")
    third = until("a new code", lambda: (found := stage.code()) != second and found)
    stage.house.phone(third, "deny")
    until("the no", lambda: box.text(114) == "This was denied on the phone.")
    stage.shot("denied")
    box.focus("new code", "Left")
    box.press("Select")
    fourth = stage.code()
    assert fourth != third
    stage.house.phone(fourth, "deny")
    until("the no", lambda: box.text(114) == "This was denied on the phone.")
    box.press("Back")
    fails(box, answer, "denied")
    # A wrong code in the settings of an enrolled device: add-ons still work, and the program names the error.
    box.run("setting", "code", stage.house.url + "#0000-0000-0000-0000")
    answer = stage.play()
    stage.code()
    box.press("Back")
    fails(box, answer, "cancelled")
    box.builtin("RunScript(script.regent,sign-in)")
    until("the program says it", lambda: "this code is wrong, used or expired" in box.text(9), 20)
    box.press("Select")
    box.run("setting", "code", "")
    box.run("setting", "matching", "true")
    answer = stage.play()
    code = stage.code()

    def typed():
        until("the screen says it", lambda: box.text(114) == "Type this number on the phone")
        stage.shot("number")
        return signed_record(stage, code)["match"]
    stage.house.phone(code, "approve", typed)
    stage.played(answer)
    box.builtin("RunScript(script.regent,status)")
    time.sleep(2)
    stage.shot("status")
    box.press("Select")
    box.builtin("RunScript(script.regent,sign-out)")
    time.sleep(2)
    box.press("Select")
    answer = stage.play()
    stage.code()
    box.press("Back")
    fails(box, answer, "cancelled")
    box.builtin("RunScript(script.regent)")
    time.sleep(2)
    stage.shot("menu")
    box.press("Back")


def signed_record(stage, code):
    """The record of the code, read with the box's key pair; it has the number that the screen shows."""
    profile = stage.box.data / "userdata/addon_data/script.module.regent"
    known, identity = (json.loads((profile / name).read_text()) for name in ("credentials.json", "identity.json"))
    sys.path.insert(0, str(stage.box.data / "addons/script.module.regent/lib"))
    from regent.wire import Caller, Line
    caller = Caller(Line(known["service"]), known["requestor"], known["publicKey"], known["secret"], identity["device"], {})
    return caller.call("GET", f"/reggie/v1/cinema/regcode/{code}.json", [("deviceId", identity["device"])]).document


def kills(stage):
    """Kodi is killed at each step; after the next start the sign-in continues where it was, or has ended."""
    box = stage.set_up("kills")
    codes = []
    for step in ("starting", "code", "opened", "approved"):
        answer = stage.play()
        if step == "starting":
            time.sleep(0.3)
        else:
            codes.append(stage.code())
        if step == "opened":
            phone = Browser(stage.house)
            phone.open("/D/" + codes[-1])
            phone.send(f"/D/{codes[-1]}/open")
            time.sleep(0.5)
        if step == "approved":
            stage.house.control("code", "approve", codes[-1], "--provider", "aurora", "--account", "anna")
        box.kill()
        assert not answer.exists() or step == "approved"
        box.start()
        if step in ("code", "opened"):
            answer = stage.play()
            assert stage.code() == codes[-1], step
            box.kill()
            box.start()
    stage.played(stage.play())
    answer = stage.play()
    until("Kodi plays", stage.is_playing)
    box.kill()
    box.start()
    stage.played(stage.play())


def away(stage):
    """The service is stopped while the code is on the screen, and Kodi exits while it waits."""
    box = stage.set_up("away")
    answer = stage.play()
    code = stage.code()
    process = stage.house.service.regentd.process
    process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(2)
    finally:
        process.send_signal(signal.SIGCONT)
    stage.house.service.regentd.kill()
    until("the screen says it", lambda: "No connection to 127.0.0.1." in box.text(114), 12)
    stage.shot("away")
    assert "/D/" + code in stage.shown("away")
    service = stage.house.service
    service.regentd = serve(
        service.programs, service.folder.name, "--web", pathlib.Path(service.folder.name, "web"), "--wrong-codes", "1000",
        environment=service.environment, listen=service.inside.split("//")[1])
    stage.house.phone(code, "approve")
    stage.played(answer)
    box.builtin("RunScript(script.regent,sign-out)")
    time.sleep(2)
    box.press("Select")
    stage.play()
    code = stage.code()
    started = time.monotonic()
    box.stop()
    took = time.monotonic() - started
    assert took < 8, f"Kodi took {took:.1f} s to end while a code was shown"
    box.start()
    stage.play()
    assert stage.code() == code


def updates(stage):
    """A zip with a wrong checksum is refused; the next version comes from the repository by itself."""
    box = stage.set_up("updates")
    stage.build("0.1.1")
    path = next((stage.pages / "kodi/script.module.regent").glob("*.zip.sha256"))
    right = path.read_text()
    path.write_text("0" * 64 + right[64:])
    box.builtin("UpdateAddonRepos")
    until("Kodi refuses the zip", lambda: re.search("(?i)(hash|checksum).*(mismatch|failed|does not match)|failed to (verify|match)", box.kodi_log()))
    time.sleep(2)
    assert box.addon("script.module.regent")["version"] == "0.1.0"
    path.write_text(right)
    box.stop()
    box.start()
    box.builtin("UpdateAddonRepos")
    for addon in ("script.module.regent", "script.regent"):
        until(f"{addon} 0.1.1", lambda: (box.addon(addon) or {}).get("version") == "0.1.1")
    answer = stage.play()
    stage.house.phone(stage.code(), "approve")
    stage.played(answer)


def languages(stage):
    """The box's texts in Italian and Spanish; English if the font has no letters of the language."""
    box = stage.set_up("languages")
    for tag, name in (("it_it", "Italian"), ("es_es", "Spanish"), ("ko_kr", "Korean")):
        language_addon(box, tag, name)
    box.stop()
    box.start()
    for tag in ("it_it", "es_es", "ko_kr"):
        box.rpc("Addons.SetAddonEnabled", addonid=f"resource.language.{tag}", enabled=True)
        time.sleep(1)
        box.rpc("Settings.SetSettingValue", setting="locale.language", value=f"resource.language.{tag}")
        time.sleep(2)
        answer = stage.play()
        stage.code()
        stage.shot(tag)
        title = box.text(110)
        wanted = {"it_it": "Accedi con il telefono", "es_es": "Inicia sesión con tu teléfono", "ko_kr": "Sign in with your phone"}[tag]
        assert title == wanted, (title, wanted)
        box.press("Back")
        box.ended(answer)


def language_addon(box, tag, name):
    folder = box.data / f"addons/resource.language.{tag}"
    (folder / "resources").mkdir(parents=True)
    (folder / "addon.xml").write_text(
        f'<addon id="resource.language.{tag}" version="9.0.0" name="{name}" provider-name="test"><requires>'
        '<import addon="kodi.resource" version="1.0.0"/></requires>'
        f'<extension point="kodi.resource.language" locale="{tag}"/></addon>')
    (folder / "resources/langinfo.xml").write_text(
        f'<language locale="{tag[:2]}"><charsets><gui>CP1252</gui><subtitle>CP1252</subtitle></charsets><regions><region name="{name}" '
        f'locale="{tag[3:].upper()}"><dateshort>DD/MM/YYYY</dateshort><datelong>DDDD, D MMMM YYYY</datelong><time symbolAM="" symbolPM="">'
        'HH:mm:ss</time><tempunit>C</tempunit><speedunit>kmh</speedunit></region></regions></language>')
    (folder / "resources/strings.po").write_text(
        f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: {tag}\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\nmsgctxt "#1"\nmsgid "Pictures"\nmsgstr "x"\n')


def daemon(stage):
    """A box with a `regent daemon`: the add-on uses it, and Kodi needs no enrolment."""
    box = stage.set_up("daemon", enrolled=False)
    answer = stage.play()
    fails(box, answer, "not-enrolled")
    home, service = stage.home / "daemon", stage.house.service
    home.mkdir()
    with open(os.open(home / "secret", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(service.key["secret"])
    (home / "agent.conf").write_text(f"allow = user:{USER} pair status token=channel-*\n")
    socket = stage.root / "run/regent"
    socket.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [service.programs / "regent", "daemon", "--config", home / "agent.conf", "--socket", socket / "agent.sock"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8", "REGENT_SERVICE": service.inside,
             "REGENT_REQUESTOR": "cinema", "REGENT_PUBLIC_KEY": service.key["publicKey"], "REGENT_SECRET_FILE": f"{home}/secret",
             "REGENT_STATE": f"{home}/state"}, stdout=subprocess.DEVNULL, stderr=open(home / "log", "wb"))
    try:
        until("the daemon listens", (socket / "agent.sock").exists)
        answer = stage.play()
        first = stage.code()
        box.press("Back")
        fails(box, answer, "cancelled")
        answer = stage.play()
        code = stage.code()
        assert code != first
        stage.house.phone(code, "approve")
        stage.played(answer)
        assert not (box.data / "userdata/addon_data/script.module.regent/credentials.json").exists()
    finally:
        process.terminate()
        process.wait(timeout=20)


STORIES = (journey, remote, kills, away, updates, languages, daemon)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--suite", default="trixie")
    options = parser.parse_args()
    if os.geteuid():
        return print("kodi: NOT RUN, only root can make a Debian with Kodi")
    if not os.environ.get("REGENT_KODI_INSIDE"):
        make_root(ROOT / f".build/kodi-{options.suite}", options.suite)
    enter()
    with tempfile.TemporaryDirectory(prefix="regent-kodi-") as home:
        stage = Stage(options.programs.resolve(), home, options.keep, options.suite)
        try:
            for story in STORIES:
                if options.only in story.__name__:
                    started = time.monotonic()
                    story(stage)
                    print(f"ok {story.__name__} ({time.monotonic() - started:.1f} s)", flush=True)
        except BaseException:
            with contextlib.suppress(Exception):
                stage.shot("failed")
                for answer in sorted(stage.root.glob(f"tmp/{stage.box.home.name}-*")):
                    print(answer.name, answer.read_text()[:500], file=sys.stderr)
                print(stage.box.kodi_log()[-3000:], file=sys.stderr)
            raise
        finally:
            stage.stop()


if __name__ == "__main__":
    main()
