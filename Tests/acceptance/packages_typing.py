"""The steps of packages.py in which an operator types at a terminal of the machine; the keys are counted."""

import os
import pathlib
import re
import subprocess
import time

from packages_stage import NAMES, PUBLIC_URL, built, files, install, stage


class Keyboard:
    """An operator at a terminal; names, addresses, passwords and codes do not count as keys."""

    def __init__(self, name, line):
        self.keys = self.prompts = 0
        # A new tmux server each time, because one that is about to end accepts no terminal.
        self.server = f"regent-packages-{os.getpid()}-{name}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "60", line)

    def tmux(self, *words):
        done = subprocess.run(
            ["tmux", "-L", self.server, "-u", *words], check=True, capture_output=True, text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(stage.newer)})
        return done.stdout

    def type(self, keys, name=""):
        """Types `keys`, then a name, then Return."""
        if keys + name:
            self.tmux("send-keys", "-l", keys + name)
        self.tmux("send-keys", "Enter")
        self.keys += len(keys) + 1

    def paste(self, line):
        """Enters a line that a document or a program has printed; it does not count."""
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def shows(self, pattern):
        def look():
            screen = self.tmux("capture-pane", "-p", "-J", "-S", "-200")
            return re.search(pattern, screen)
        try:
            return stage.machine.until(pattern, look)
        except TimeoutError:
            raise AssertionError(f"{pattern} is not on the screen: {self.tmux('capture-pane', '-p', '-S', '-200')}") from None

    def code(self):
        """The registration code on the screen; groups of an enrolment code, which is there too, can look like one."""
        return self.shows(r"(?<![\w-])[B-Z]{4}-[B-Z]{4}(?![\w-])").group(0)

    def prompt(self):
        """Waits for the next prompt; the typed text may not be on the screen yet behind the last one."""
        self.prompts += 1
        self.shows(rf"(?s)(?:here>.*){{{self.prompts - 1}}}here> *\s*\Z")

    def end(self):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], capture_output=True)


def measured(what, script):
    """Runs a script of keys in a shell of the machine; returns its result, the number of keys and the seconds."""
    keyboard = Keyboard(
        what.split()[-1],
        f"nsenter -t {stage.machine.leader} -a -- env -i -C {built} TERM=tmux-256color LC_ALL=C.UTF-8 HOME=/root"
        " PATH=/usr/sbin:/usr/bin:/sbin:/bin PS1='here> ' bash --norc")
    try:
        keyboard.prompt()
        begun = time.monotonic()
        found = script(keyboard)
        took = time.monotonic() - begun
    finally:
        keyboard.end()
    print(f"   {what}: {keyboard.keys} keys without names, {took:.1f} s", flush=True)
    return found, keyboard.keys, took


def typed(what, script):
    found, keys, took = measured(what, script)
    assert keys <= 40 and took <= 60, (keys, took)
    return found


def unexpected_warnings(said):
    """The warnings of doctor besides those of a machine without TLS and without a time server."""
    return re.findall(r"^ *warn +(?! |encryption:|time-server:).*", said, re.M)


def from_nothing_to_a_code_on_the_screen():
    """An operator's way from packages on an empty machine to a screen that shows a code."""
    stage.machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))

    def service(keyboard):
        packages = " ".join(f"./{pathlib.Path(path).name}" for path in files(names=("regentctl", "regentd")))
        keyboard.type("apt install ", packages)
        keyboard.prompt()
        keyboard.type("regentctl setup")
        for question, name in (
                ("address that phones open", PUBLIC_URL), ("requestor:", ""), ("name of the requestor", ""), ("provider:", ""),
                ("name of the provider", ""), ("titles that every viewer may watch", ""), ("account:", "anna"),
                ("password of anna", "a long enough password"), ("again", "a long enough password"), ("or none", "")):
            keyboard.shows(rf"{question}[^\n]*: *\s*\Z")
            keyboard.type("", name)
        found = keyboard.shows(r"regent setup --code '(\S+#\S+)'").group(1)
        screen = keyboard.tmux("capture-pane", "-p", "-S", "-200")
        assert "BAD" not in screen and not unexpected_warnings(screen) and "█" in screen, screen
        return found

    def box(keyboard):
        keyboard.type("apt install ", f"./{pathlib.Path(files(names=('regent',))[0]).name}")
        keyboard.prompt()
        keyboard.type("regent setup")
        keyboard.shows("enrolment code")
        keyboard.type("", code)
        keyboard.shows("to sign in, run regent pair")
        keyboard.prompt()
        keyboard.type("regent pair")
        return keyboard.code()

    code = typed("the service", service)
    assert typed("the box", box)


def setup_offers_another_port_when_the_port_is_taken():
    """Another program uses port 8787 before the package comes: setup names it, and succeeds with another port."""
    stage.machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))
    stage.machine.run(
        "systemd-run", "--unit=other", "python3", "-c",
        "import signal, socket; one = socket.create_server(('', 8787)); signal.pause()")
    try:
        install(*files(names=("regentctl", "regentd")))
        why = stage.machine.run("regentctl", "setup", fails=True, text="")
        assert re.search(r"127\.0\.0\.1:8787 is already used by python3 \(process \d+\)", why) and "--listen 127.0.0.1:8788" in why, why
        why = stage.machine.run("regentctl", "setup", "--public-url", PUBLIC_URL, fails=True, text="")
        assert "8787 is already used by python3" in why and "--public-url http://192.168.7.1:8788" in why, why
        why = stage.machine.run("regentctl", "setup", "--public-url", "http://192.168.7.9:8788", fails=True, text="")
        assert "192.168.7.9 is not an address of this machine, which has " in why and "192.168.7.1" in why, why

        def person(keyboard):
            keyboard.type("regentctl setup")
            keyboard.shows(r"another address and port for the service to listen on \[127.0.0.1:8788\]: *\s*\Z")
            keyboard.type("")
            for question, name in (
                    ("address that phones open", PUBLIC_URL), ("address that phones open", PUBLIC_URL.replace("8787", "8788")),
                    ("requestor:", ""), ("name of the requestor", ""), ("provider:", ""), ("name of the provider", ""),
                    ("titles that every viewer may watch", ""), ("account:", "anna"),
                    ("password of anna", "a long enough password"), ("again", "a long enough password"), ("or none", "")):
                keyboard.shows(rf"{question}[^\n]*: *\s*\Z")
                keyboard.type("", name)
            keyboard.shows(r"regent setup --code '(\S+#\S+)'")
            screen = keyboard.tmux("capture-pane", "-p", "-S", "-200")
            assert "BAD" not in screen and not unexpected_warnings(screen), screen

        typed("a service whose port is taken", person)
        assert stage.machine.run("curl", "-sf", "http://192.168.7.1:8788/readyz") is not None
        settings = stage.machine.run("cat", "/etc/regent/regentd.env")
        assert '\nREGENT_LISTEN="*:8788"\n' in settings and "\nREGENT_PUBLIC_URL=http://192.168.7.1:8788\n" in settings, settings
        stage.machine.run("regentctl", "setup", "--public-url", "http://192.168.7.1:8788", text="")
        assert stage.machine.run("cat", "/etc/regent/regentd.env") == settings
    finally:
        stage.machine.run("systemctl", "stop", "other")
    stage.machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", "regentd", "regentctl")
