"""The machine of mistakes.py, and the functions that its mistakes share: reading messages and following them."""

import contextlib
import pathlib
import re
import types

from packages_stage import PUBLIC_URL, files, install, running, stage

PASSWORD = "a long enough password"
FAKETIME = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
SETTINGS, BOX, SECRET = "/etc/regent/regentd.env", "/etc/regent/agent.conf", "/etc/regent/secret"
# The mistakes in the order of their numbers, and the table of the run.
MISTAKES, TABLE = {}, []


def mistake(number, what):
    """Marks a function that makes a mistake, does what was said, checks the repair, and returns the message."""
    def marked(function):
        MISTAKES[number] = types.SimpleNamespace(what=what, make=function)
        return function
    return marked


def shell(line, fails=False):
    """Runs a command line as root; returns its output and errors. `sudo` is left out, as this Debian lacks it."""
    plain = re.sub(r"(^|[;&] *)sudo ", r"\1", line)
    return stage.machine.run("bash", "-c", f"exec 2>&1\n{plain}", fails=fails)


def told(output, pattern):
    """The match of a pattern in what was said; the function that made the mistake follows it."""
    found = re.search(pattern, output, re.M)
    assert found, f"{pattern} was not said: {output}"
    return found


def line_of(found):
    """The whole line in which something was said, without the journal's time and unit."""
    text = found.string
    end = text.find("\n", found.end())
    line = text[text.rfind("\n", 0, found.start()) + 1:end if end >= 0 else None].strip()
    return re.sub(r"^[A-Z][a-z]{2} \d+ [\d:]+ \S+ \S+: +", "", line)


def doctor():
    return shell("regentctl doctor", fails=None)


def is_well():
    """The service has no bad finding, and the box gets a media token."""
    running()
    found = doctor()
    assert "BAD" not in found, found
    plays()


def plays(title=None):
    """A title that was not asked for before, because the daemon keeps media tokens for some minutes."""
    stage.titles += 1
    shell(f"regent authorize {title or f'film-{stage.titles}'} --verify")


@contextlib.contextmanager
def kept(*paths, unit=None):
    """Files as they were before, also after a failure; then the unit is restarted."""
    texts = {path: stage.machine.run("cat", path) for path in paths}
    try:
        yield
    finally:
        for path, text in texts.items():
            stage.machine.write(path, text, int(stage.modes[path], 8))
        if unit:
            restart(unit)


def restart(unit, fails=None):
    stage.machine.run("systemctl", "reset-failed", unit, fails=None)
    return stage.machine.run("systemctl", "restart", unit, fails=fails)


def edit(path, pattern, new, unit=None):
    """Changes a settings file as an operator does with an editor."""
    text = stage.machine.run("cat", path)
    changed = re.sub(pattern, new, text, flags=re.M)
    assert changed != text, (pattern, text)
    stage.machine.write(path, changed, int(stage.modes[path], 8))
    if unit:
        restart(unit)


def invitation():
    return told(shell("regentctl requestor invite hotel"), r"[0-9A-Z]{4}(-[0-9A-Z]{4}){3}").group(0)


@contextlib.contextmanager
def clock(unit, offset):
    """A unit whose clock differs; at the end it follows the machine's clock again."""
    folder = f"/run/systemd/system/{unit}.service.d"
    stage.machine.write(f"{folder}/clock.conf", f"[Service]\nEnvironment=LD_PRELOAD={FAKETIME} FAKETIME={offset}\n")
    stage.machine.run("systemctl", "daemon-reload")
    restart(unit)
    try:
        yield
    finally:
        stage.machine.run("rm", "-r", folder)
        stage.machine.run("systemctl", "daemon-reload")
        restart(unit)


def begin():
    """A small hotel: a service, one viewer, and a box that is signed in."""
    install(*files(names=("regentctl", "regentd", "regent")))
    if stage.programs:
        shell(f"install -m 755 {stage.programs}/regent {stage.programs}/regentctl {stage.programs}/regentd /usr/bin/ && systemctl restart regentd")
    running()
    stage.titles = 0
    code = told(
        shell(f"echo '{PASSWORD}' | regentctl setup --public-url {PUBLIC_URL} --requestor hotel --provider guests "
              "--account anna --allow '*' --invite"),
        r"regent setup --code '(\S+)'").group(1)
    shell(f"regent setup --code '{code}'")
    pair()
    stage.modes = {path: stage.machine.run("stat", "-c", "%a", path).strip() for path in (SETTINGS, BOX, SECRET)}
    stage.machine.run("chgrp", "regentd", SETTINGS)
    is_well()


def pair():
    """Signs the box in; the operator approves its code."""
    shell("""regent pair --json >/root/pairing &
        for turn in $(seq 100); do code=$(sed -n 's/.*"code":"\\([B-Z]*\\)".*/\\1/p' /root/pairing); [ -z "$code" ] || break; sleep 0.1; done
        regentctl code approve $code --provider guests --account anna && wait""")
