#!/usr/bin/env python3
"""Every program and script of the packages and of docs/examples where the environment has nothing: no variables, no
HOME, no terminal, closed standard streams, an unknown user, and as a unit with DynamicUser=.

usage: bare_environment.py FOLDER_OF_PACKAGES

Each command of the programs is run as the example in its help shows it. A program may refuse with a message; it may not
crash, and without a terminal it may not wait for an answer.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import time

from container import PACKAGING, Container, Unavailable
from packages_stage import PUBLIC_URL, built, install, place, running, stage

PROGRAMS = ("regent", "regentctl", "regentd")
PACKAGES = (*PROGRAMS, "python3-regent", "libmediatoken1", "libmediatoken-dev")
SECONDS = 4
# Commands that run until they are stopped or a viewer approves a code; `timeout` stops them.
LASTING = re.compile(
    r"^/usr/bin/(regentd serve|regent (daemon|pair|exec|sso (prompts|sign-in)|oauth pair)"
    r"|regentctl (announce|audit tail --follow|stats --watch)|python3 \S+/kodi/(addon|oauth)\.py)\b")
CRASH = re.compile(r"Traceback|Fatal error|Illegal instruction|[Ss]egmentation|core dumped|parameter not set|unbound variable|Assertion")
# The modules that Kodi gives an add-on, which do nothing here.
KODI = "import sys\nclass Any:\n  def __getattr__(self, name): return self\n  def __call__(self, *_, **__): return self\n" \
       "  def __bool__(self): return False\nsys.modules[__name__] = Any()\n"
EXAMPLES = "/usr/share/doc/regent/examples"
SCRIPTS = (
    "/usr/bin/python3 -c 'import contextlib, regent\nwith contextlib.suppress(regent.RegentError): regent.Regent().status()'",
    f"/usr/bin/python3 {EXAMPLES}/kodi/addon.py channel-1 https://stream.example.org",
    f"/usr/bin/python3 {EXAMPLES}/kodi/oauth.py name https://stream.example.org",
    f"/usr/bin/python3 -c 'import sys; sys.path.append(\"{EXAMPLES}/kodi\"); import account; print(account.come_in(\"{PUBLIC_URL}\", \"tv\", \"k\", \"s\", \"d\"))'",
    f"/usr/bin/python3 {EXAMPLES}/oauth/call.py name https://api.example.org",
    f"/bin/sh {EXAMPLES}/oauth/pair.sh http://127.0.0.1:1 client",
    "/usr/bin/python3 /usr/share/doc/libmediatoken-dev/examples/verify-media-token/verify.py libMediaToken.so.1 /nowhere tv news-1",
)
# The ways to start each command. In all of them the standard streams are closed or are no terminal.
WAYS = {
    "no variables": "env -i {}",
    "no variables, unknown user": "env -i setpriv --reuid 4242 --regid 4242 --clear-groups {}",
    "no variables, closed streams": "env -i sh -c 'exec \"$@\" <&- >&- 2>&-' sh {}",
    "relative HOME, a folder that is gone": "env -i HOME=nowhere XDG_RUNTIME_DIR= XDG_STATE_HOME=x sh -c 'mkdir /tmp/gone$$ && cd /tmp/gone$$ && rmdir /tmp/gone$$ && exec \"$@\"' sh {}",
}
UNIT = "unit with DynamicUser="


def shown(*words):
    return stage.machine.run(*words, fails=None)


def examples(program, path=()):
    """The command lines of the examples in the help of a program and all its commands."""
    said = shown(program, *path, "--help")
    found = re.search(r"^examples?:\n((?:  .*\n)+)", said, re.M)
    lines = [line.strip() for line in found[1].splitlines()] if found else []
    # The words before the description in the list of commands, which is indented by two spaces.
    section = re.search(r"^commands:\n((?:  .*\n)+)", said, re.M)
    names = re.findall(r"^  ([a-z][a-z-]*)(?:  | *$)", section[1], re.M) if section else []
    for name in names:
        lines += examples(program, (*path, name))
    if not names:
        lines.append(" ".join((program, *path)))
    return lines


def commands():
    found = []
    for program in PROGRAMS:
        for line in dict.fromkeys(examples(program)):
            # The shell of an example's pipe or redirection is left out; the program's own words stay.
            words = re.split(r" [|<>] | > ", line)[0]
            if words.split()[0] == program:
                found.append(f"/usr/bin/{words}")
    return [*found, *SCRIPTS]


def tried(name, lines):
    """Runs all commands in one way; returns what crashed or waited."""
    # A script for one process of the machine, because each start from outside costs more than the command itself.
    text = "export PYTHONPATH=/srv/kodi\n" if name == UNIT else ""
    for number, line in enumerate(lines):
        command = line if name == UNIT else WAYS[name].format(line.replace("/usr/bin/python3", "/usr/bin/env PYTHONPATH=/srv/kodi /usr/bin/python3"))
        text += f"timeout -k 1 {SECONDS} sh -c {shlex.quote(command)} </dev/null >out 2>&1; echo \"@@ {number} $?\"; head -c 3000 out | cat -v; echo\n"
    stage.machine.write("/srv/all.sh", text)
    runner = ["systemd-run", "--quiet", "--wait", "--pipe", "--collect", "-p", "DynamicUser=yes", "-p", "RuntimeDirectory=bare",
              "-p", "WorkingDirectory=/run/bare", "sh", "/srv/all.sh"] if name == UNIT else ["sh", "-c", "cd /srv && sh /srv/all.sh"]
    done = subprocess.run(
        ["nsenter", "-t", str(stage.machine.leader), "-a", "--", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *runner],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900)
    parts = re.split(r"^@@ (\d+) (\d+)$", done.stdout, flags=re.M)[1:]
    found = [(lines[int(number)], int(code), said.strip()) for number, code, said in zip(*[iter(parts)] * 3)]
    assert len(found) == len(lines), (len(found), len(lines), done.stdout[-2000:], done.stderr)
    bad = []
    for line, code, said in found:
        waited = code in (124, 137)
        if (waited and not LASTING.match(line)) or (code >= 126 and not waited) or CRASH.search(said):
            bad.append(f"{name}: {line}: exit {code}: {said[-700:]}")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages")
    os.chdir(place)
    parser.parse_args()
    try:
        stage.machine = Container(
            place / ".build" / Container.packaging_folder(), binds=(str(built),), more=PACKAGING)
    except Unavailable as reason:
        print(f"bare-environment: NOT RUN, no systemd can be booted here: {reason}")
        return 0
    try:
        # jq and the optional libraries are left out, as on a minimal Debian.
        paths = [str(next(built.glob(f"{name}_*.deb"))) for name in PACKAGES]
        install(*paths)
        running()
        said = stage.machine.run(
            "regentctl", "setup", "--public-url", PUBLIC_URL, "--elsewhere", "--account", "anna", "--allow", "*", "--invite", text="a long enough password\n")
        code = re.search(r"regent setup --code '\S+#(\S+)'", said)[1]
        stage.machine.run("regent", "setup", "--service", "http://127.0.0.1:8787", "--code", code)
        for name in ("xbmc", "xbmcgui"):
            stage.machine.write(f"/srv/kodi/{name}.py", KODI)
        lines = commands()
        bad = []
        for name in (*WAYS, UNIT):
            begun = time.monotonic()
            found = tried(name, lines)
            bad += found
            print(f"{'ok' if not found else 'FAILED'} {len(lines)} commands with {name} ({time.monotonic() - begun:.1f} s)", flush=True)
            # Examples such as `restore` and `serve` may have stopped or changed the service.
            stage.machine.run("systemctl", "restart", "regentd", fails=None)
        print("\n".join(bad), file=sys.stderr)
        return 1 if bad else 0
    finally:
        stage.machine.stop()


if __name__ == "__main__":
    sys.exit(main())
