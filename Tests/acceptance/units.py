#!/usr/bin/env python3
"""The units of deploy/systemd under a real systemd, in a minimal Debian with the files of `make install`.

usage: units.py FOLDER_OF_PROGRAMS

The Debian is made once, below .build/units, from Debian's mirror, and booted by systemd-nspawn; all changes of a run
are discarded. If none can be made or booted, it says so and does not fail, because that needs root. The file is long
because each unit is tested in the state in which the previous one left the machine.
"""
import json, os, pathlib, re, resource, subprocess, sys, tempfile, threading, time

from container import Container, Unavailable

programs = os.path.abspath(sys.argv[1])
place = pathlib.Path(__file__).resolve().parents[2]
os.chdir(place)
PROXY_SOCKET = "/run/regentd-proxy/http.sock"
DOCUMENTS = "/usr/share/doc/regent/examples"


def has_console():
    try:
        return len(pathlib.Path("/dev/vcs1").read_bytes()) > 0 and os.path.exists("/dev/tty1")
    except OSError:
        return False


CONSOLE = has_console()


def control(*words, user="root", text=None, fails=False):
    return machine.run("runuser", "-u", user, "--", "regentctl", "--json", *words, text=text, fails=fails)


def settled(unit="regentd"):
    """Waits until a unit runs; returns its process id."""
    machine.until(f"{unit} runs", lambda: machine.show(unit, "ActiveState") == "active")
    return int(machine.show(unit, "MainPID"))


def replaced(pid, unit="regentd"):
    machine.until(f"{unit} runs again", lambda: machine.show(unit, "MainPID") not in ("0", str(pid)))
    return settled(unit)


def requestors():
    return {found["id"] for found in json.loads(control("requestor", "list"))}


def the_service_starts():
    machine.run("systemd-sysusers")
    machine.run("systemd-tmpfiles", "--create", fails=None)
    machine.run("install", "-m", "640", "-g", "regentd", f"{DOCUMENTS}/regentd.env", "/etc/regent/")
    # The proxy's socket as in the example, and a port for boxes on this machine, whose forwarding headers are not
    # trusted.
    machine.run(
        "sed", "-i", f's,^REGENT_LISTEN=.*,REGENT_LISTEN="unix:{PROXY_SOCKET} 127.0.0.1:8787",', "/etc/regent/regentd.env")
    machine.run("systemctl", "enable", "--now", "regentd")
    settled()
    assert machine.show("regentd", "NRestarts") == "0"
    log = machine.log("regentd")
    for line in ("Failed to set thread priority", "not permitted", "warning", "error"):
        assert line not in log, log
    assert machine.run("stat", "-c", "%U:%G %a", "/run/regentd/admin.sock") == "regentd:regent-admin 660\n"
    assert machine.run("stat", "-c", "%U %a", "/var/lib/regentd") == "regentd 700\n"


def every_unit_is_sandboxed():
    for unit, threshold in (("regentd", 12), ("regentd@1", 12), ("regent", 15), ("regent-pair@tty1", 15)):
        machine.run("systemd-analyze", "security", "--no-pager", f"--threshold={threshold}", f"{unit}.service")


def the_sandbox_is_in_force(unit="regentd", state="/var/lib/regentd"):
    pid = settled(unit)
    status = machine.run("cat", f"/proc/{pid}/status")
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert facts["Seccomp"] == "2" and facts["NoNewPrivs"] == "1", facts
    assert all(int(facts[name], 16) == 0 for name in ("CapEff", "CapBnd", "CapAmb")), facts
    assert facts["Uid"].split()[0] == machine.run("id", "-u", unit).strip()
    assert machine.run("id", "-g", unit).strip() in facts["Groups"].split() + facts["Gid"].split()
    limits = machine.run("cat", f"/proc/{pid}/limits")
    if unit == "regentd":
        assert re.search(r"Max core file size +0 ", limits), limits
        # In a container where root may not raise limits, the current limit applies.
        wanted = min(int(machine.show(unit, "LimitNOFILE")), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        assert re.search(rf"Max open files +{wanted} ", limits), limits
    inside = ("nsenter", "-t", str(pid), "-m", "--")
    for path in ("/etc", "/usr", "/var"):
        assert "Read-only" in machine.run(*inside, "touch", f"{path}/planted", fails=True), path
    machine.run(*inside, "test", "-w", state)
    assert machine.run(*inside, "ls", "-A", "/home", fails=None) == ""
    assert "mem" not in machine.run(*inside, "ls", "/dev").split()
    assert machine.run(*inside, "ls", "-A", "/tmp") == "", "another's files"


def a_member_of_the_admin_group_uses_regentctl():
    machine.run("useradd", "-m", "-G", "regent-admin", "anna")
    machine.run("useradd", "-m", "bob")
    control("requestor", "add", "acme", "--domain", "tv.example.org", user="anna")
    control("provider", "add", "cable", "--name", "Cable", "--kind", "local", user="anna")
    control("integrate", "acme", "cable", user="anna")
    control("account", "add", "cable", "anna", user="anna", text="a long enough password\n")
    assert "acme" in requestors()
    refused = control("requestor", "list", user="bob", fails=True)
    assert "not-allowed" in refused and "usermod -aG regent-admin" in refused, refused
    for user in ("anna", "bob"):
        assert "denied" in machine.run("runuser", "-u", user, "--", "ls", "/var/lib/regentd", fails=True)


def a_reload_is_no_restart():
    pid = settled()
    machine.run("systemctl", "reload", "regentd")
    assert settled() == pid


def systemd_restarts_a_killed_service():
    pid = settled()
    machine.run("kill", "-9", str(pid))
    replaced(pid)
    assert "acme" in requestors()


def systemd_restarts_a_service_that_hangs():
    machine.write("/run/systemd/system/regentd.service.d/soon.conf", "[Service]\nWatchdogSec=1\n")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", "regentd")
    pid = settled()
    machine.run("kill", "-STOP", str(pid))
    replaced(pid)
    assert "Watchdog timeout" in machine.log("regentd")
    assert "acme" in requestors()
    machine.run("rm", "-r", "/run/systemd/system/regentd.service.d")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", "regentd")
    settled()


def the_box_answers_on_its_socket():
    pair = json.loads(control("key", "issue", "acme"))
    settings = pathlib.Path("deploy/agent.conf.example").read_text()
    settings = settings.replace("https://tv.example.org", "http://127.0.0.1:8787")
    settings = settings.replace("PUT-THE-PUBLIC-KEY-HERE", pair["publicKey"])
    machine.write("/etc/regent/agent.conf", f"{settings}\npublic-host = tv.example.org\nallow = user:bob status\n")
    machine.write("/etc/regent/secret", pair["secret"], mode=0o600)
    machine.run("systemctl", "enable", "--now", "regent.socket")
    assert machine.show("regent", "ActiveState") == "inactive"
    assert machine.run("stat", "-c", "%a", "/run/regent/agent.sock") == "666\n"
    # The first call starts the daemon; the box is not signed in yet.
    said = machine.run("runuser", "-u", "bob", "--", "regent", "status", fails=3)
    the_sandbox_is_in_force("regent", "/var/lib/regent")
    refused = machine.run("runuser", "-u", "bob", "--", "regent", "token", "news-1", fails=True)
    assert "allow" in refused, refused
    assert "denied" in machine.run("runuser", "-u", "regent", "--", "cat", "/etc/regent/secret", fails=True), said


def the_box_shows_a_code_on_a_console_and_is_signed_in():
    with machine.console() as screen:
        unit = f"regent-pair@pts-{screen.number}"
        machine.run("systemctl", "start", unit)
        first = screen.code()
        machine.run("systemctl", "kill", "-s", "USR1", "--kill-whom=main", unit)
        second = screen.code(other_than=first)
        control("code", "approve", second, "--provider", "cable", "--account", "anna")
        machine.until("the pairing screen ends", lambda: machine.show(unit, "ActiveState") == "inactive")
        assert machine.show(unit, "Result") == "success", machine.log(unit)
    machine.run("systemctl", "restart", "regent")
    for each in (unit, "regent"):
        log = machine.log(each)
        assert "Failed to set" not in log and "not permitted" not in log, log
    machine.until("the box is signed in", lambda: machine.code("runuser", "-u", "bob", "--", "regent", "status") == 0)


def a_second_box(name, options=""):
    """Lets the pairing unit run another box that is not signed in; `name` is its state folder below /var/lib."""
    program = f"/usr/bin/regent pair --unattended --config /etc/regent/agent.conf --state /var/lib/{name} --socket /run/none"
    machine.write(
        "/run/systemd/system/regent-pair@.service.d/second.conf",
        f"[Service]\nStateDirectory={name}\nExecStart=\nExecStart={program} {options}\n")
    machine.run("systemctl", "daemon-reload")


def approved(code, unit):
    control("code", "approve", code, "--provider", "cable", "--account", "anna")
    machine.until("the pairing screen ends", lambda: machine.show(unit, "ActiveState") == "inactive")
    assert machine.show(unit, "Result") == "success", machine.log(unit)
    machine.run("rm", "-r", "/run/systemd/system/regent-pair@.service.d")
    machine.run("systemctl", "daemon-reload")


def the_box_shows_its_code_on_the_first_console():
    """The kernel's own console, whose contents are read back from its memory; skipped where there is none."""
    if not CONSOLE:
        print("   NOT RUN: this kernel has no console that can be read back (/dev/tty1, /dev/vcs1)")
        return
    a_second_box("second")
    unit = "regent-pair@tty1"
    machine.run("systemctl", "start", unit)
    asked = machine.show("getty@tty1", "ConditionTimestampMonotonic")

    def code():
        shown = pathlib.Path("/dev/vcs1").read_bytes().decode("ascii", "replace")
        found = re.findall(r"\b[B-Z]{4}-[B-Z]{4}\b", shown)
        return found and found[0]

    approved(machine.until("a code on tty1", code), unit)
    # The login prompt was started again; it waits for a /dev/tty0, which a container does not have.
    machine.until("the prompt", lambda: machine.show("getty@tty1", "ConditionTimestampMonotonic") != asked)


def a_framebuffer_shows_the_code_as_a_picture():
    """The framebuffer is a file here, from which a scanner reads the QR code."""
    width, height = 640, 480
    a_second_box("third", f"--qr framebuffer --framebuffer /var/lib/third/screen --framebuffer-size {width}x{height}x32")
    machine.run("install", "-d", "-o", "regent", "/var/lib/third")
    machine.run("runuser", "-u", "regent", "--", "truncate", "-s", str(width * height * 4), "/var/lib/third/screen")
    picture = pathlib.Path(f"/proc/{machine.leader}/root/var/lib/third/screen")

    def scanned():
        points = picture.read_bytes()
        file = pathlib.Path(scratch) / "screen.ppm"
        file.write_bytes(b"P6 %d %d 255\n" % (width, height) + b"".join(
            points[at:at + 3] for at in range(0, len(points), 4)))
        done = subprocess.run(["zbarimg", "--quiet", "--raw", "--nodbus", file], capture_output=True, text=True)
        return done.stdout.strip()

    with tempfile.TemporaryDirectory() as scratch, machine.console() as screen:
        unit = f"regent-pair@pts-{screen.number}"
        machine.run("systemctl", "start", unit)
        code = screen.code()
        found = machine.until("a picture", scanned)
        assert code.replace("-", "") in found.upper(), (code, found)
        approved(code, unit)
        # The earlier contents of the screen are restored.
        assert not any(picture.read_bytes())


def a_box_works_with_a_read_only_root():
    """Only /var is writable, as on a system image: a box makes calls, and says why it cannot be enrolled again."""
    def run(line, fails=False):
        mounts = "mount --bind /var /var && mount -o remount,bind,ro / && "
        return machine.run("unshare", "-m", "sh", "-c", mounts + line, fails=fails)

    assert "Read-only" in run("touch /etc/planted", fails=True)
    assert "cable" in run("regent providers --state /var/lib/fourth")
    refused = run(f"regent setup --service http://127.0.0.1:8787 --code {invitation()}", fails=True)
    assert "Read-only file system" in refused, refused


def invitation():
    return json.loads(control("requestor", "invite", "acme"))["code"]


def doctor_reports_whether_the_next_backup_will_be_made():
    def nightly():
        found = json.loads(control("doctor", fails=None))
        return next(one for one in found if one["check"] == "nightly-backup")

    assert nightly()["fix"] == "systemctl enable --now regentd-backup.timer", nightly()
    machine.run("systemctl", "enable", "--now", "regentd-backup.timer")
    assert nightly()["status"] == "good", nightly()
    machine.run("chmod", "500", "/var/backups/regentd")
    machine.run("systemctl", "start", "regentd-backup", fails=True)
    assert "journalctl -u regentd-backup" in nightly()["fix"], nightly()
    machine.run("chmod", "700", "/var/backups/regentd")
    machine.run("systemctl", "start", "regentd-backup")
    assert nightly()["status"] == "good", nightly()


def the_box_boots_into_its_launcher():
    """First the code, then the program; the program again when it ends; the code again after a sign-out."""
    settings = machine.run("cat", "/etc/regent/agent.conf")
    machine.write("/etc/regent/agent.conf", f"{settings}\nallow = user:regent-launcher pair status\n")
    machine.run("systemctl", "stop", "regent")
    machine.run("regent", "logout")

    def runs():
        return machine.code("test", "-e", "/var/lib/regent-launcher/runs") == 0

    def ended():
        machine.run("rm", "/var/lib/regent-launcher/runs")
        machine.run("systemctl", "kill", "-s", "KILL", unit)

    with machine.console() as screen:
        unit = f"regent-launcher@pts-{screen.number}"
        machine.run("systemctl", "start", unit)
        assert machine.show(unit, "ConditionResult") == "no", "without a program there is nothing to boot into"
        machine.write("/etc/regent/launcher", '#!/bin/sh\nid -un >"$HOME/runs"; tty >>"$HOME/runs"; exec sleep 600\n', mode=0o755)
        machine.run("systemctl", "start", unit)
        first = screen.code()
        assert not runs()
        # A new code without a keyboard, as on the pairing screen.
        machine.run("systemctl", "kill", "-s", "USR1", "--kill-whom=main", unit)
        control("code", "approve", screen.code(other_than=first), "--provider", "cable", "--account", "anna")
        machine.until("the launcher", runs)
        said = machine.run("cat", "/var/lib/regent-launcher/runs").split()
        assert said == ["regent-launcher", f"/dev/pts/{screen.number}"], said
        assert machine.show(unit, "MainPID") == machine.run("pgrep", "-f", "^sleep 600").strip()
        assert machine.code("runuser", "-u", "regent-launcher", "--", "regent", "status") == 0
        ended()
        machine.until("the launcher again", runs)
        shown = screen.code()
        machine.run("regent", "logout")
        ended()
        control("code", "approve", screen.code(other_than=shown), "--provider", "cable", "--account", "anna")
        machine.until("the launcher after another sign-in", runs)
        machine.run("systemctl", "stop", unit)
        assert machine.show(unit, "Result") == "success", machine.log(unit)
    machine.run("rm", "/etc/regent/launcher")


def an_app_has_its_own_socket():
    settings = machine.run("cat", "/etc/regent/agent.conf")
    machine.write("/etc/regent/agent.conf", f"{settings}\napp = boxed requestor:acme socket:boxed\n")
    machine.write("/etc/systemd/system/regent-app@boxed.socket.d/who.conf", "[Socket]\nSocketUser=bob\n")
    machine.run("systemctl", "daemon-reload")
    # systemd does not start a socket whose service runs.
    machine.run("systemctl", "enable", "regent-app@boxed.socket")
    machine.run("systemctl", "stop", "regent.socket", "regent")
    machine.run("systemctl", "start", "regent-app@boxed.socket", "regent.socket")
    own, common = "/run/regent/apps/boxed.sock", "/run/regent/agent.sock"
    assert machine.run("stat", "-c", "%U %a", own) == "bob 660\n"

    def ask(path, user):
        return json.loads(machine.run(
            "runuser", "-u", user, "--", "curl", "-sS", "--unix-socket", path, "-d", '{"requestor":"acme"}',
            "http://localhost/v1/platform/status"))

    assert ask(own, "bob")["app"] == "boxed"
    assert ask(common, "bob")["error"]["code"] == "not-an-app", "the line is for the socket alone"
    assert machine.code("runuser", "-u", "anna", "--", "curl", "-sS", "--unix-socket", own, "http://localhost/") != 0
    # Calls that are not for apps do not exist on this socket, even for its owner.
    assert "no-such-call" in machine.run(
        "runuser", "-u", "bob", "--", "curl", "-sS", "--unix-socket", own, "http://localhost/v1/status")
    machine.run("regent", "sso", "grant", "boxed")
    assert ask(own, "bob")["permission"] == "granted"
    # A call starts the daemon again, and it has kept the decision.
    machine.run("systemctl", "stop", "regent")
    assert ask(own, "bob")["permission"] == "granted"


def fail2ban_bans_an_address_that_guesses_codes():
    for file, target in (("filter", "filter.d"), ("jail", "jail.d")):
        machine.run("cp", f"{DOCUMENTS}/fail2ban/{file}.conf", f"/etc/fail2ban/{target}/regentd.conf")
    # Debian's own jail needs a log file, which a machine with only a journal does not have.
    machine.run("rm", "-f", "/etc/fail2ban/jail.d/defaults-debian.conf")
    machine.run("systemctl", "restart", "fail2ban")
    machine.until("fail2ban answers", lambda: machine.code("fail2ban-client", "status", "regentd") == 0)
    # The service accepts five wrong codes of an address in ten minutes; the jail by default waits for twenty.
    machine.run("fail2ban-client", "set", "regentd", "maxretry", "4")
    sender = [
        "--unix-socket", PROXY_SOCKET, "-H", "X-Forwarded-For: 203.0.113.9", "-H", "X-Forwarded-Proto: https",
        "-H", "X-Forwarded-Host: tv.example.org"]
    page = machine.run("curl", "-s", "-i", *sender, "http://tv.example.org/")
    # Set by hand, because curl would send this cookie only over https, and the proxy is not here.
    sender += ["-H", "Cookie: " + "; ".join(re.findall(r"(?im)^set-cookie: ([^;\r\n]+)", page))]
    token = re.search(r'name="csrf" value="([^"]*)"', page).group(1)
    for letter in "BCDFG":
        machine.run(
            "curl", "-s", "-o", "/dev/null", *sender, "-H", "Origin: https://tv.example.org", "--data-urlencode", "csrf=" + token,
            "-d", "code=BCDFGHJ" + letter, "http://tv.example.org/code")
    assert "wrong-code address=203.0.113.9" in machine.log("regentd")
    machine.until("a ban", lambda: "203.0.113.9" in machine.run("fail2ban-client", "get", "regentd", "banip"))
    machine.run("systemctl", "stop", "fail2ban")


def no_acknowledged_change_is_lost_when_memory_runs_out():
    pid, acknowledged, ends = settled(), [], threading.Event()

    def write():
        number = 0
        while not ends.is_set():
            number += 1
            if machine.code("regentctl", "requestor", "add", f"r{number}", "--domain", "tv.example.org") == 0:
                acknowledged.append(f"r{number}")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        machine.until("changes", lambda: len(acknowledged) >= 5)
        with machine.memory("regentd", pid, 4 << 20) as memory:
            hog = memory.fill(8787)
            try:
                machine.until("the kernel kills it", lambda: memory.kills() > 0, seconds=60)
                replaced(pid)
            finally:
                hog.kill()
                hog.wait()
        before = len(acknowledged)
        machine.until("changes after it", lambda: len(acknowledged) > before)
    finally:
        ends.set()
        writer.join()
    assert set(acknowledged) <= requestors(), set(acknowledged) - requestors()
    print(f"   {len(acknowledged)} acknowledged changes around an OOM kill, none lost")


def a_stop_is_quick_and_clean():
    machine.run("systemctl", "stop", "regent.socket", "regent-app@boxed.socket", "regent", "regentd")
    for unit in ("regentd", "regent"):
        assert machine.show(unit, "Result") == "success", machine.log(unit)
    assert machine.code("test", "-e", "/run/regentd") != 0


def a_second_instance_has_its_own_socket_and_node_name():
    # With its own SQLite database, because there is no database server here; other tests run several nodes.
    machine.write("/etc/regent/regentd-1.env", "REGENT_LISTEN=127.0.0.1:8801\nREGENT_DATABASE=/var/lib/regentd/one.db\n")
    machine.run("systemctl", "start", "regentd@1")
    settled("regentd@1")
    assert machine.run("stat", "-c", "%U:%G %a", "/run/regentd-1/admin.sock") == "regentd:regent-admin 660\n"
    nodes = json.loads(machine.run("regentctl", "--socket", "/run/regentd-1/admin.sock", "--json", "node", "list"))
    assert [node["name"] for node in nodes] == [machine.run("hostname", "-s").strip() + "-1"], nodes
    machine.run("systemctl", "stop", "regentd@1")
    assert machine.show("regentd@1", "Result") == "success", machine.log("regentd@1")


STEPS = (
    the_service_starts, every_unit_is_sandboxed, the_sandbox_is_in_force,
    a_member_of_the_admin_group_uses_regentctl,
    a_reload_is_no_restart, systemd_restarts_a_killed_service, systemd_restarts_a_service_that_hangs,
    the_box_answers_on_its_socket,
    the_box_shows_a_code_on_a_console_and_is_signed_in, the_box_shows_its_code_on_the_first_console,
    a_framebuffer_shows_the_code_as_a_picture, a_box_works_with_a_read_only_root,
    the_box_boots_into_its_launcher,
    doctor_reports_whether_the_next_backup_will_be_made, an_app_has_its_own_socket,
    fail2ban_bans_an_address_that_guesses_codes,
    no_acknowledged_change_is_lost_when_memory_runs_out, a_stop_is_quick_and_clean,
    a_second_instance_has_its_own_socket_and_node_name)

try:
    machine = Container(place / ".build" / "units", programs, devices=("/dev/tty1",) if CONSOLE else ())
except Unavailable as reason:
    print(f"units: NOT RUN, no systemd can be booted here: {reason}")
    sys.exit(0)
try:
    for step in STEPS:
        begun = time.monotonic()
        step()
        print(f"ok {step.__name__.replace('_', ' ')} ({time.monotonic() - begun:.1f} s)", flush=True)
except BaseException:
    print(machine.log("regentd", "regent", "regent-pair@*", "regent-launcher@*", lines=60), file=sys.stderr)
    raise
finally:
    machine.stop()
