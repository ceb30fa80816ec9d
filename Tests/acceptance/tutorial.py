#!/usr/bin/env python3
"""Runs the SDK's tutorial as it is written: its commands set up the service, its Swift blocks form one program.

    tutorial.py write                    prints that program; the values that a reader fills in are its arguments
    tutorial.py run PROGRAMS PROGRAM     PROGRAMS is the folder with regentd and regentctl
"""

import json
import os
import pathlib
import re
import select
import shlex
import subprocess
import sys
import tempfile
import time

from regentd import SECONDS, Regentd

PAGE = pathlib.Path(__file__).resolve().parents[2] / "Sources/AccessEnabler/AccessEnabler.docc/SignedInInTenMinutes.md"
URL = "https://tv.example.org/1.m3u8"
# The parts that the page leaves to its reader.
READER = """import AccessEnabler
import Glibc

func show(_ text: String) {
  print("shows:", text)
  // A pipe is written to in blocks, so without this the test would get the code only at the end.
  fflush(nil)
}
func play(_ url: String, token: String) { print("plays:", url, token.isEmpty ? "without a token" : "with a token") }
func askToSignInAgain() { print("asks to sign in again") }

func tutorial(service: String, folder: String, publicKey: String, secret: String, url: String) async throws {
"""
REST = """  print("may watch:", allowed.joined(separator: ", "))
  print("the browser:", browsing.browser.joined(separator: " "))
}

let given = CommandLine.arguments
try await tutorial(service: given[1], folder: given[2], publicKey: given[3], secret: given[4], url: given[5])
"""


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def write():
    program = READER
    for block in blocks("swift"):
        if block.startswith("dependencies:"):
            continue
        block = re.sub(r"^import .*\n", "", block, flags=re.M)
        for words, name in (('"http://LAN-ADDRESS:8787"', "service"), ('"/home/tv/player"', "folder")):
            block = block.replace(words, name)
        program += block + "\n"
    print(program + REST, end="")


def fail(sentence):
    sys.exit(f"tutorial: {sentence}")


def run(programs, program):
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("regentctl ")]
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": f"{programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TMPDIR": home}
        server = Regentd(programs, home, environment=environment)
        try:
            def control(*words):
                done = subprocess.run(
                    [pathlib.Path(programs, "regentctl"), *words], env=environment, input="correct-horse\n", text=True,
                    capture_output=True, timeout=SECONDS)
                if done.returncode:
                    fail(f"regentctl {' '.join(words)}: {done.stderr}")
                return done.stdout

            for command in commands:
                said = control(*shlex.split(command)[1:], "--json")
            key = json.loads(said)
            follow(program, [server.url, f"{home}/player", key["publicKey"], key["secret"], URL], environment, control)
        finally:
            server.kill()


def follow(program, arguments, environment, control):
    process = subprocess.Popen([program, *arguments], env=environment, stdout=subprocess.PIPE)
    said, end = "", time.monotonic() + SECONDS
    approved = False
    try:
        while True:
            if time.monotonic() > end:
                fail(f"no end within {SECONDS} s: {said}")
            if not select.select([process.stdout], [], [], 1)[0]:
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            said += data.decode()
            code = re.search(r"^shows: Open \S+ and type ([A-Z]{4}-[A-Z]{4})$", said, re.M)
            if code and not approved:
                approved = True
                control("code", "approve", code[1], "--provider", "cable", "--account", "demo")
        if process.wait(timeout=SECONDS):
            fail(f"exit code {process.returncode} after: {said}")
    finally:
        process.kill()
        process.wait()
    for wanted in ("shows: Hello, viewer of Cable TV", f"plays: {URL} with a token", "the browser: xdg-open"):
        if wanted not in said:
            fail(f"{wanted!r} is not in: {said}")
    print(said, end="")


match sys.argv[1:]:
    case ["write"]: write()
    case ["run", programs, program]: run(programs, program)
    case _: sys.exit(__doc__)
