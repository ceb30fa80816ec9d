#!/usr/bin/env python3
"""The Debian packages in a minimal Debian with a real systemd: installed, set up, used, upgraded, killed, removed, purged.

usage: packages.py FOLDER_OF_PACKAGES

The Debian is made once, below .build/packages, as units.py does it. Where none can be booted that is said, and it is no
failure.
"""
import json, os, pathlib, re, shutil, subprocess, sys, tempfile, time

from container import Container, Unavailable

built = pathlib.Path(sys.argv[1]).resolve()
place = pathlib.Path(__file__).resolve().parents[2]
os.chdir(place)
NAMES = ("regentctl", "regentd", "regent")
NEWER, OLDER = "9.9.9", "0.0.9"
EARLIER = place / "Tests/fixtures/0.1.0"
PUBLIC_URL = "http://192.168.7.1:8787"
# What dpkg, systemd and the users' database write for themselves.
NOISE = re.compile(
    r"/var/(lib/(dpkg|systemd|apt)|log|cache)|/etc/(passwd|group|shadow|gshadow|subuid|subgid|ld\.so\.cache|\.pwd\.lock)"
    r"|/var/lib/(private|pam)|/etc/machine-id|__pycache__")


def repacked(folder, named):
    """The same packages as another version."""
    for name in NAMES:
        tree = folder / name
        source = next(built.glob(f"{name}_*.deb"))
        subprocess.run(["dpkg-deb", "-R", source, tree], check=True)
        for file in ("control", "preinst"):
            text = tree / "DEBIAN" / file
            if text.exists():
                text.write_text(text.read_text().replace(version, named))
        subprocess.run(["dpkg-deb", "-b", "-Zgzip", "-z1", tree, folder / f"{name}_{named}_all.deb"], check=True, capture_output=True)
        shutil.rmtree(tree)


def files(of=built, names=NAMES):
    return [str(next(of.glob(f"{name}_*.deb"))) for name in names]


def install(*paths, fails=False, downgrade=False):
    allowed = ["REGENT_DOWNGRADE=1"] if downgrade else []
    return machine.run("env", "DEBIAN_FRONTEND=noninteractive", *allowed, "dpkg", "-i", *paths, fails=fails)


def listing():
    found = machine.run("find", "/etc", "/usr", "/lib/systemd", "/var", "-xdev", "-not", "-type", "l", fails=None).split("\n")
    return {path for path in found if path and not NOISE.match(path)}


def running(unit="regentd"):
    machine.until(f"{unit} runs", lambda: machine.show(unit, "ActiveState") == "active")
    return machine.show(unit, "MainPID")


def requestors():
    return {found["id"] for found in json.loads(machine.run("regentctl", "--json", "requestor", "list"))}


def a_token():
    return machine.run("regent", "token", "news-1").strip()


def the_service_runs_without_a_question():
    global begun
    begun = time.monotonic()
    install(*files(names=("regentctl", "regentd")))
    running()
    assert machine.run("curl", "-sf", "http://127.0.0.1:8787/readyz") is not None
    for path, wanted in (
            ("/etc/regent/regentd.env", "root:regentd 640"), ("/var/lib/regentd", "regentd:regent-admin 700"),
            ("/var/lib/regentd/master-key", "regentd:regent-admin 600"), ("/var/backups/regentd", "regentd:regentd 700")):
        assert machine.run("stat", "-c", "%U:%G %a", path).strip() == wanted, path
    assert machine.show("regentd-backup.timer", "ActiveState") == "active"
    assert machine.show("regentd", "UnitFileState") == "enabled"


def setup_ends_green():
    global enrolment
    said = machine.run(
        "regentctl", "setup", "--public-url", PUBLIC_URL, "--requestor", "acme", "--provider", "cable", "--account", "anna",
        "--invite", text="a long enough password\n")
    assert "BAD" not in said and "warn" not in said, said
    print(f"   {time.monotonic() - begun:.1f} s from dpkg -i to a doctor without a finding")
    assert "+ REGENT_PUBLIC_URL=" + PUBLIC_URL in said, said
    settings = machine.run("cat", "/etc/regent/regentd.env")
    assert "# Behind a proxy on this machine" in settings and f"\nREGENT_PUBLIC_URL={PUBLIC_URL}\n" in settings
    assert machine.run("stat", "-c", "%U:%G %a", "/etc/regent/regentd.env").strip() == "root:regentd 640"
    assert "ok    nightly-backup: its timer runs" in said, said
    enrolment = re.search(r"regent setup --code '(\S+#\S+)'", said).group(1)
    assert enrolment.startswith(PUBLIC_URL + "#"), said
    again = machine.run("regentctl", "setup", "--public-url", PUBLIC_URL, text="")
    assert "REGENT_" not in again and "added" not in again, again


def what_setup_says_counts_for_systemd():
    """However somebody wrote the settings by hand: systemd gives the service what setup wrote."""
    path = "/etc/regent/regentd.env"
    kept = machine.run("cat", path)
    other = "http://192.168.7.1:9999"
    for text in (
            f"{kept}  REGENT_PUBLIC_URL = {other}\n", f"REGENT_PUBLIC_URL={other}\n{kept}".replace("\n", "\r\n"),
            f"{kept}# C:\\\nREGENT_PUBLIC_URL={other}\n",
            kept + f"REGENT_PUBLIC_URL={other[:-2]}\\\n{other[-2:]}\n", kept + f"REGENT_PUBLIC_URL='{other}\n'\nREGENT_LOG=te\\\nxt\n"):
        machine.write(path, text, 0o640)
        said = machine.run("regentctl", "setup", "--public-url", PUBLIC_URL, text="")
        assert "BAD" not in said, said
        machine.run("systemctl", "restart", "regentd")
        given = machine.run("sh", "-c", f"tr '\\0' '\\n' </proc/{running()}/environ").split("\n")
        for wanted in (f"REGENT_PUBLIC_URL={PUBLIC_URL}", "REGENT_LISTEN=*:8787", "REGENT_ADMIN_GROUP=regent-admin"):
            assert wanted in given, (wanted, text, given)
    machine.write(path, kept, 0o640)
    machine.run("systemctl", "restart", "regentd")
    running()


def a_box_pairs_and_plays():
    install(*files(names=("regent",)))
    said = machine.run("regent", "setup", "--code", enrolment)
    assert "BAD" not in said and "ok    daemon: it runs" in said and "sign in: regent pair" in said, said
    assert machine.run("stat", "-c", "%U:%G %a", "/etc/regent/secret").strip() == "root:root 600"
    assert machine.run("stat", "-c", "%U:%G %a", "/etc/regent/agent.conf").strip() == "root:root 644"
    machine.run("systemctl", "start", "regent.service")
    with machine.console() as screen:
        unit = f"regent-pair@pts-{screen.number}"
        machine.run("systemctl", "start", unit)
        machine.run("regentctl", "code", "approve", screen.code(), "--provider", "cable", "--account", "anna")
        machine.until("the pairing screen ends", lambda: machine.show(unit, "ActiveState") == "inactive")
    machine.run("systemctl", "restart", "regent")
    machine.until("the box is signed in", lambda: machine.code("regent", "status") == 0)
    assert a_token()


def a_backup_is_made_every_night():
    before = int(machine.run("sh", "-c", "ls /var/backups/regentd/regent-*.db | wc -l"))
    machine.run("systemctl", "start", "regentd-backup.service")
    assert int(machine.run("sh", "-c", "ls /var/backups/regentd/regent-*.db | wc -l")) == before + 1
    assert machine.run("stat", "-c", "%U %a", "/var/backups/regentd").strip() == "regentd 700"


def the_nightly_backup_can_be_put_back():
    machine.run("systemctl", "start", "regentd-backup.service")
    newest = machine.run("sh", "-c", "ls /var/backups/regentd/regent-*.db | tail -n 1").strip()
    machine.run("regentctl", "requestor", "add", "later")
    machine.run("systemctl", "stop", "regentd")
    said = machine.run("env", "STATE_DIRECTORY=/var/lib/regentd", "regentctl", "restore", newest, "--yes")
    assert "what was there before is" in said, said
    machine.run("systemctl", "start", "regentd")
    running()
    assert requestors() == {"acme"}
    assert machine.run("stat", "-c", "%U %a", "/var/lib/regentd/regent.db").strip() == "regentd 600"
    assert a_token()


def held():
    """How many boxes the service holds in a wait; None while it does not answer."""
    said = machine.run("regentctl", "--json", "stats", fails=None)
    return json.loads(said)["waiting"] if said.startswith("{") and '"waiting"' in said else None


def waiting_box():
    """A second box that shows its code, as a person would start it; it has a state of its own."""
    return subprocess.Popen(
        ["nsenter", "-t", str(machine.leader), "-a", "--", "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/root",
         "/usr/bin/regent", "pair", "--state", "/root/second", "--name", "Kitchen", "--socket", "/root/no.sock"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def an_upgrade_is_not_noticed():
    pid, settings = running(), machine.run("cat", "/etc/regent/regentd.env")
    box = waiting_box()
    code = next(found[0] for line in box.stdout if (found := re.search(r"\b[B-Z]{4}-[B-Z]{4}\b", line)))
    machine.until("the second box is held", held)
    said = install(*files(newer))
    assert running() != pid
    ready = time.monotonic()
    machine.until("the second box is held again", held, seconds=10)
    print(f"   a waiting box is held again {time.monotonic() - ready:.1f} s after the restart")
    assert box.poll() is None
    machine.run("regentctl", "code", "approve", code, "--provider", "cable", "--account", "anna")
    rest = box.communicate(timeout=60)[0]
    assert box.returncode == 0, rest
    assert machine.run("cat", "/etc/regent/regentd.env") == settings
    assert machine.run("stat", "-c", "%a", f"/var/backups/regentd/before-{NEWER}.db").strip() == "600", said
    assert requestors() == {"acme"}
    assert a_token()


def an_upgrade_is_not_led_elsewhere_by_the_service():
    """Whoever has become the service puts a link or a folder where root's upgrade writes its copy."""
    machine.run("sh", "-ec", f"""
        install -d -m 755 /srv/target
        cd /var/backups/regentd
        rm -f before-{version}.*
        runuser -u regentd -- ln -s /srv/target before-{version}.db
        runuser -u regentd -- mkdir -p before-{version}.2.db.new/inside""")
    install(*files(names=("regentctl", "regentd")), downgrade=True)
    assert machine.run("find", "/srv/target", "-mindepth", "1") == ""
    machine.run("sh", "-ec", f"rm -rf /srv/target /var/backups/regentd/before-{version}.*")
    install(*files(newer))
    running()
    assert requestors() == {"acme"}


def an_older_version_is_refused():
    said = install(*files(names=("regentd",)), fails=True)
    assert "may have changed the database" in said and "REGENT_DOWNGRADE=1" in said, said
    install(*files(newer))
    assert requestors() == {"acme"}


def what_is_killed_at_any_step_is_mended_by_doing_it_again():
    """dpkg tells each of its steps; it is killed at the first, then at the second, and so on."""
    step = 0
    while True:
        step += 1
        program = subprocess.Popen(
            ["nsenter", "-t", str(machine.leader), "-a", "--", "/bin/sh", "-c",
             "export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive; echo pid $$; exec dpkg --status-fd 1 -i \"$@\"",
             "sh", *files(newer)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        pid = program.stdout.readline().split()[1]
        steps = 0
        for line in program.stdout:
            steps += re.match(r"(status|processing): ", line) is not None
            if steps == step:
                machine.run("kill", "-9", pid, fails=None)
                break
        program.stdout.read()
        program.wait()
        if steps < step:
            break
        install(*files(newer))
        running()
        assert machine.run("dpkg", "--audit") == ""
        assert requestors() == {"acme"}
    assert step > 10, step
    assert a_token()
    print(f"   killed at {step - 1} steps")


def removing_keeps_what_is_ones_own():
    machine.run("dpkg", "-r", *reversed(NAMES))
    assert machine.code("test", "-e", "/usr/bin/regentd") != 0
    assert machine.code("systemctl", "is-active", "regentd") != 0
    for path in ("/var/lib/regentd/regent.db", "/etc/regent/regentd.env", "/etc/regent/agent.conf"):
        assert machine.code("test", "-e", path) == 0, path
    install(*files(newer))
    running()
    assert requestors() == {"acme"} and a_token()


LINKS = "/etc/systemd/system/multi-user.target.wants"
# What a killed setup leaves, and what somebody enabled by name.
LEFT = (
    "/etc/regent/.agent.conf.new0", "/etc/regent/.secret.new0", "/etc/regent/.secret.new1", "/etc/regent/.agent.conf.lock",
    "/etc/regent/.regentd.env.new0", "/etc/regent/.regentd.env.lock")
ENABLED = ("regentd@1", "regent-launcher@tty3", "regent-pair@tty4")


def purging_leaves_nothing():
    """Also where the data is elsewhere, by a link: it goes, and nothing beside it does."""
    machine.run("touch", *LEFT)
    machine.run("systemctl", "enable", *ENABLED)
    machine.run("systemctl", "stop", "regentd", "regent.socket", "regent")
    machine.run("sh", "-ec", """
        mkdir -m 755 /srv/elsewhere && echo kept >/srv/elsewhere/other
        mv /var/lib/regentd /srv/elsewhere/regentd && ln -s /srv/elsewhere/regentd /var/lib/regentd
        # A folder that others use, too.
        mv /var/lib/regent/* /srv/elsewhere && rmdir /var/lib/regent && ln -s /srv/elsewhere /var/lib/regent""")
    machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))
    left = listing() - clean
    assert not left, sorted(left)
    links = machine.run("find", LINKS, "/var/lib", "-maxdepth", "1", "-name", "regent*", fails=None)
    assert not links, links
    assert machine.run("find", "/srv/elsewhere", "-mindepth", "1").split() == ["/srv/elsewhere/other"]
    machine.run("rm", "-r", "/srv/elsewhere")
    assert "regent" not in machine.run("systemctl", "list-unit-files", "--no-pager", fails=None)


def a_box_without_settings_waits():
    install(*files(newer))
    running()
    assert requestors() == set()
    for unit in ("regent.service", "regent.socket"):
        assert machine.show(unit, "ActiveState") == "inactive" and machine.show(unit, "UnitFileState") == "enabled"
    assert machine.run("systemctl", "--failed", "--no-legend", "--plain", "list-units", "regent*", fails=None) == ""


def a_database_of_the_first_release_goes_along():
    """What 0.1.0 wrote is below an older package, which this one follows; the older one is refused after it."""
    machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))
    install(*files(older, names=("regentctl", "regentd")))
    running()
    machine.run("systemctl", "stop", "regentd")
    for name in ("regent.db", "master-key"):
        machine.run("sh", "-c", f"rm -f /var/lib/regentd/{name}*")
        machine.run("install", "-m", "600", "-o", "regentd", "-g", "regent-admin", f"{EARLIER}/{name}", f"/var/lib/regentd/{name}")
    machine.run("systemctl", "start", "regentd")
    running()
    facts = json.loads((EARLIER / "facts.json").read_text())
    assert facts["requestor"] in requestors()
    install(*files(names=("regentctl", "regentd")))
    running()
    assert facts["requestor"] in requestors()
    assert machine.run("stat", "-c", "%a", f"/var/backups/regentd/before-{version}.db").strip() == "600"
    install(*files(older, names=("regentd",)), fails=True)
    running()
    assert facts["requestor"] in requestors()


class Keyboard:
    """Somebody who types in a terminal; what is a name, an address, a password or a code is not counted."""

    def __init__(self, name, line):
        self.keys = self.prompts = 0
        # A server of its own: one that is about to end takes no new terminal.
        self.server = f"regent-packages-{os.getpid()}-{name}"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "60", line)

    def tmux(self, *words):
        done = subprocess.run(
            ["tmux", "-L", self.server, "-u", *words], check=True, capture_output=True, text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(newer)})
        return done.stdout

    def type(self, keys, name=""):
        """Types `keys`, then a name, then Return."""
        if keys + name:
            self.tmux("send-keys", "-l", keys + name)
        self.tmux("send-keys", "Enter")
        self.keys += len(keys) + 1

    def shows(self, pattern):
        def look():
            screen = self.tmux("capture-pane", "-p", "-J", "-S", "-200")
            return re.search(pattern, screen)
        try:
            return machine.until(pattern, look)
        except TimeoutError:
            raise AssertionError(f"{pattern} is not on the screen: {self.tmux('capture-pane', '-p', '-S', '-200')}") from None

    def prompt(self):
        """The next one: what was just typed may not stand behind the last one yet."""
        self.prompts += 1
        self.shows(rf"(?s)(?:here>.*){{{self.prompts - 1}}}here> *\s*\Z")

    def end(self):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], capture_output=True)


def typed(what, script):
    """Runs a script of keys in a shell of the machine, and says how many they were and how long it took."""
    keyboard = Keyboard(
        what.split()[-1],
        f"nsenter -t {machine.leader} -a -- env -i -C {built} TERM=tmux-256color LC_ALL=C.UTF-8 HOME=/root"
        " PATH=/usr/sbin:/usr/bin:/sbin:/bin PS1='here> ' bash --norc")
    try:
        keyboard.prompt()
        begun = time.monotonic()
        found = script(keyboard)
        took = time.monotonic() - begun
    finally:
        keyboard.end()
    print(f"   {what}: {keyboard.keys} keys beside names, {took:.1f} s")
    assert keyboard.keys <= 40 and took <= 60, (keyboard.keys, took)
    return found


def from_nothing_to_a_code_on_the_screen():
    """As a person does it: from packages on a machine that has nothing of them to a screen that shows a code."""
    machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))

    def service(keyboard):
        packages = " ".join(f"./{pathlib.Path(path).name}" for path in files(names=("regentctl", "regentd")))
        keyboard.type("apt install ", packages)
        keyboard.prompt()
        keyboard.type("regentctl setup")
        for question, name in (
                ("address that phones open", PUBLIC_URL), ("requestor ", ""), ("provider ", ""), ("first account ", "anna"),
                ("password of anna", "a long enough password"), ("again", "a long enough password"), ("or none", "")):
            keyboard.shows(rf"{question}[^\n]*: *\s*\Z")
            keyboard.type("", name)
        found = keyboard.shows(r"regent setup --code '(\S+#\S+)'").group(1)
        screen = keyboard.tmux("capture-pane", "-p", "-S", "-200")
        assert "BAD" not in screen and "warn" not in screen and "█" in screen, screen
        return found

    def box(keyboard):
        keyboard.type("apt install ", f"./{pathlib.Path(files(names=('regent',))[0]).name}")
        keyboard.prompt()
        keyboard.type("regent setup")
        keyboard.shows("enrolment code")
        keyboard.type("", code)
        keyboard.shows("sign in: regent pair")
        keyboard.prompt()
        keyboard.type("regent pair")
        return keyboard.shows(r"\b[B-Z]{4}-[B-Z]{4}\b").group(0)

    code = typed("the service", service)
    assert typed("the box", box)


def a_service_whose_port_is_taken_is_led_elsewhere():
    """Another program has 8787 before the package comes: setup says which one, and ends green at another port."""
    machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))
    machine.run(
        "systemd-run", "--unit=other", "python3", "-c",
        "import signal, socket; one = socket.create_server(('', 8787)); signal.pause()")
    try:
        install(*files(names=("regentctl", "regentd")))
        why = machine.run("regentctl", "setup", fails=True, text="")
        assert re.search(r"127\.0\.0\.1:8787 is taken by python3 \(process \d+\)", why) and "--listen 127.0.0.1:8788" in why, why
        why = machine.run("regentctl", "setup", "--public-url", PUBLIC_URL, fails=True, text="")
        assert "8787 is taken by python3" in why and "--public-url http://192.168.7.1:8788" in why, why
        why = machine.run("regentctl", "setup", "--public-url", "http://192.168.7.9:8788", fails=True, text="")
        assert "192.168.7.9 is no address of this machine, which has " in why and "192.168.7.1" in why, why

        def person(keyboard):
            keyboard.type("regentctl setup")
            keyboard.shows(r"where the service listens instead \[127.0.0.1:8788\]: *\s*\Z")
            keyboard.type("")
            for question, name in (
                    ("address that phones open", PUBLIC_URL), ("address that phones open", PUBLIC_URL.replace("8787", "8788")),
                    ("requestor ", ""), ("provider ", ""), ("first account ", "anna"),
                    ("password of anna", "a long enough password"), ("again", "a long enough password"), ("or none", "")):
                keyboard.shows(rf"{question}[^\n]*: *\s*\Z")
                keyboard.type("", name)
            keyboard.shows(r"regent setup --code '(\S+#\S+)'")
            screen = keyboard.tmux("capture-pane", "-p", "-S", "-200")
            assert "BAD" not in screen and "warn" not in screen, screen

        typed("a service whose port is taken", person)
        assert machine.run("curl", "-sf", "http://192.168.7.1:8788/readyz") is not None
        settings = machine.run("cat", "/etc/regent/regentd.env")
        assert '\nREGENT_LISTEN="*:8788"\n' in settings and "\nREGENT_PUBLIC_URL=http://192.168.7.1:8788\n" in settings, settings
        machine.run("regentctl", "setup", "--public-url", "http://192.168.7.1:8788", text="")
        assert machine.run("cat", "/etc/regent/regentd.env") == settings
    finally:
        machine.run("systemctl", "stop", "other")
    machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", "regentd", "regentctl")


FALSE_NAME = "Regent \u202e on \x1b[31mden"


def a_box_finds_the_service_in_the_network():
    """Two machines on one wire: this one, whose Avahi says where its service is, and beside it a false service; and a box
    with a network of its own. What is false learns nothing, and what is hostile in names is seen."""
    machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))
    install(*files(names=("regentctl", "regentd", "regent")))
    running()
    machine.run("sh", "-ec", """
        ip netns add box
        ip link add wire type veth peer name wire netns box
        ip address add 192.168.7.1/24 dev wire
        ip link set wire up
        ip -n box address add 192.168.7.2/24 dev wire
        ip -n box link set wire up
        ip -n box link set lo up""")

    def box(*words, fails=False):
        return machine.run("ip", "netns", "exec", "box", *words, fails=fails)

    def setup(*words):
        return machine.run("regentctl", "setup", "--requestor", "acme", "--provider", "cable", *words, text="")

    machine.run("regentctl", "setup", "--announce", "on", fails=True)
    setup("--public-url", PUBLIC_URL)
    code = json.loads(machine.run("regentctl", "--json", "requestor", "invite", "acme"))["code"]
    begun = time.monotonic()
    none = box("regent", "setup", "--code", code, fails=2)
    assert "no service announces itself" in none and "--service" in none, none
    print(f"   {time.monotonic() - begun:.1f} s to find that there is nothing")

    assert "announced" in setup("--announce", "on")
    found = json.loads(machine.run("regentctl", "--json", "doctor", fails=None))
    assert next(one for one in found if one["check"] == "announcement")["status"] == "good", found

    def announced():
        """As another program sees it."""
        said = machine.run("avahi-browse", "-rpt", "_regent._tcp", fails=None)
        return {line.split(";")[3] for line in said.splitlines() if line.startswith("=")}

    def search():
        """What is found, and that the service does not take a code that is wrong in its last letter."""
        other = "2" if code[-1] != "2" else "3"
        return box("sh", "-c", f"regent setup --config /root/looking.conf --code {code[:-1]}{other} 2>&1 || true")

    machine.until("the announcement", announced)
    said = search()
    assert f"found: {PUBLIC_URL}  Regent on " in said and "does not take this code" in said, said
    machine.run("systemctl", "stop", "regentd")
    machine.until("silence while it is stopped", lambda: not announced())
    machine.run("systemctl", "start", "regentd")
    machine.until("the announcement again", announced)

    # Somebody in the network who gives himself out as a service, with a name that would colour the screen and turn it round.
    machine.run(
        "systemd-run", "--unit=false", "avahi-publish-service", FALSE_NAME, "_regent._tcp", "8788", "txtvers=1", "tls=0",
        "host=192.168.7.1", "path=/")
    machine.run("systemd-run", "--unit=relay", "python3", "-c", RELAY, "/root/heard")
    heard = f"/proc/{machine.leader}/root/root/heard"
    try:
        machine.until("both", lambda: len(announced()) == 2)
        several = search()
        assert f"{PUBLIC_URL}  Regent on " in several and "http://192.168.7.1:8788  Regent " in several, several
        assert "which of them" in several and "--service" in several, several
        assert "\x1b" not in several and "\u202e" not in several and r"\e[31m" in several and r"\u{202e}" in several, several
        def person(keyboard):
            keyboard.type("", "ip netns exec box regent setup")
            keyboard.shows("enrolment code")
            keyboard.type("", code)
            shown = keyboard.shows(r"(\d)  http://192.168.7.1:8788  Regent ")
            keyboard.shows("which of them")
            keyboard.type(shown.group(1))
            keyboard.shows("this box is enrolled for acme")
            keyboard.prompt()

        typed("a box that finds two", person)
    finally:
        machine.run("systemctl", "stop", "false", "relay")
    # It was led through the relay: that heard neither the code nor a secret, and is not what the box calls from now on.
    settings = machine.run("cat", "/etc/regent/agent.conf")
    assert f"service = {PUBLIC_URL}\n" in settings and "8788" not in settings, settings
    heard = pathlib.Path(heard).read_bytes().decode(errors="replace")
    secret = machine.run("cat", "/etc/regent/secret").strip()
    assert code[:4] in heard and secret not in heard and not any(part in heard for part in code.split("-")[1:]), heard
    assert "not announced" in setup("--announce", "off")
    machine.until("silence", lambda: not announced())
    assert "no service announces itself" in search()


# Hands on what it hears, and keeps it: a machine in the middle that announces itself.
RELAY = """
import socket, sys
server = socket.create_server(("192.168.7.1", 8788))
while True:
  one, _ = server.accept()
  data = b""
  while b"\\r\\n\\r\\n" not in data or not data.endswith(b"}"):
    more = one.recv(65536)
    if not more:
      break
    data += more
  service = socket.create_connection(("192.168.7.1", 8787))
  service.sendall(data.replace(b":8788", b":8787").replace(b"keep-alive", b"close"))
  service.settimeout(5)
  answer = b""
  while not answer.endswith(b"}"):
    answer += service.recv(65536)
  open(sys.argv[1], "ab").write(data + answer)
  one.sendall(answer)
  one.close()
"""


def debians_own_test_passes():
    """deploy/debian/tests as autopkgtest runs them, on this very machine."""
    machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))
    said = machine.run("autopkgtest", "--no-built-binaries", *files(), f"{source}/", "--", "null")
    assert re.search(r"first-start +PASS", said), said


STEPS = (
    the_service_runs_without_a_question, setup_ends_green, what_setup_says_counts_for_systemd, a_box_pairs_and_plays, a_backup_is_made_every_night,
    the_nightly_backup_can_be_put_back,
    an_upgrade_is_not_noticed, an_upgrade_is_not_led_elsewhere_by_the_service, an_older_version_is_refused, what_is_killed_at_any_step_is_mended_by_doing_it_again,
    removing_keeps_what_is_ones_own, purging_leaves_nothing, a_box_without_settings_waits,
    a_database_of_the_first_release_goes_along, from_nothing_to_a_code_on_the_screen,
    a_service_whose_port_is_taken_is_led_elsewhere,
    a_box_finds_the_service_in_the_network, debians_own_test_passes)

version = re.search(r"regentd_([^_]+)_", next(built.glob("regentd_*.deb")).name)[1]
with tempfile.TemporaryDirectory() as folder:
    newer, older, source = (pathlib.Path(folder) / name for name in ("newer", "older", "source"))
    for made in (newer.parent, newer, older, source):
        made.mkdir(exist_ok=True)
        made.chmod(0o755)
    shutil.copytree(place / "deploy/debian", source / "debian")
    # deploy/deb writes one with the day of the release; autopkgtest wants any.
    (source / "debian/changelog").write_text(
        f"regent ({version}) unstable; urgency=medium\n\n  * Tested.\n\n -- R <r@example.org>  Tue, 24 Nov 2026 00:00:00 +0000\n")
    try:
        machine = Container(
            place / ".build" / "packages", binds=(str(built), str(newer), str(older), str(EARLIER), str(source)),
            more=("autopkgtest", "dpkg-dev", "avahi-daemon", "avahi-utils", "iproute2", "python3-minimal"))
    except Unavailable as reason:
        print(f"packages: NOT RUN, no systemd can be booted here: {reason}")
        sys.exit(0)
    try:
        repacked(newer, NEWER)
        repacked(older, OLDER)
        # The address that phones open is one of this machine.
        subprocess.run(
            ["nsenter", "-t", str(machine.leader), "-n", "--", "ip", "address", "add", "192.168.7.1/32", "dev", "lo"],
            check=True)
        clean = listing()
        for step in STEPS:
            begun_step = time.monotonic()
            step()
            print(f"ok {step.__name__.replace('_', ' ')} ({time.monotonic() - begun_step:.1f} s)", flush=True)
    except BaseException:
        print(machine.log("regentd", "regent", "regent-pair@*", "regentd-backup", "regentd-announce", "avahi-daemon", lines=60), file=sys.stderr)
        raise
    finally:
        machine.stop()
