#!/usr/bin/env python3
"""The Debian packages in a minimal Debian with a real systemd: installed, set up, used, upgraded, killed, removed,
purged.

usage: packages.py FOLDER_OF_PACKAGES [SUITE]

With SUITE (trixie, for example) it boots that Debian release and performs only the main steps: first start, setup,
pairing, backup and restore, upgrade, refused downgrade, purge, the database of 0.1.0.

The Debian is made once, below .build/packages, as in units.py. If none can be booted, it says so and does not fail.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from container import PACKAGING, Container, Unavailable
from packages_network import a_box_finds_the_service_in_the_network
from packages_stage import NAMES, PUBLIC_URL, a_token, built, files, install, listing, place, repacked, requestors, running, stage
from packages_typing import unexpected_warnings
from packages_typing import setup_offers_another_port_when_the_port_is_taken, from_nothing_to_a_code_on_the_screen

os.chdir(place)
NEWER, OLDER = "9.9.9", "0.0.9"
EARLIER = place / "Tests/fixtures/0.1.0"


def the_package_starts_the_service_without_a_question():
    global begun
    begun = time.monotonic()
    install(*files(names=("regentctl", "regentd")))
    running()
    assert stage.machine.run("curl", "-sf", "http://127.0.0.1:8787/readyz") is not None
    for path, wanted in (
            ("/etc/regent/regentd.env", "root:regentd 640"), ("/var/lib/regentd", "regentd:regent-admin 700"),
            ("/var/lib/regentd/master-key", "regentd:regent-admin 600"), ("/var/backups/regentd", "regentd:regentd 700")):
        assert stage.machine.run("stat", "-c", "%U:%G %a", path).strip() == wanted, path
    assert stage.machine.show("regentd-backup.timer", "ActiveState") == "active"
    assert stage.machine.show("regentd", "UnitFileState") == "enabled"


def setup_ends_without_a_finding():
    global enrolment
    said = stage.machine.run(
        "regentctl", "setup", "--public-url", PUBLIC_URL, "--requestor", "acme", "--provider", "cable", "--account", "anna",
        "--allow", "*", "--invite", text="a long enough password\n")
    assert "BAD" not in said and not unexpected_warnings(said), said
    print(f"   {time.monotonic() - begun:.1f} s from dpkg -i until regentctl doctor has no finding")
    assert "+ REGENT_PUBLIC_URL=" + PUBLIC_URL in said, said
    settings = stage.machine.run("cat", "/etc/regent/regentd.env")
    assert "# Behind a proxy on this machine" in settings and f"\nREGENT_PUBLIC_URL={PUBLIC_URL}\n" in settings
    assert stage.machine.run("stat", "-c", "%U:%G %a", "/etc/regent/regentd.env").strip() == "root:regentd 640"
    assert "ok    nightly-backup: the timer is on" in said, said
    enrolment = re.search(r"regent setup --code '(\S+#\S+)'", said).group(1)
    assert enrolment.startswith(PUBLIC_URL + "#"), said
    again = stage.machine.run("regentctl", "setup", "--public-url", PUBLIC_URL, text="")
    assert "REGENT_" not in again and "added" not in again, again


def systemd_uses_the_settings_of_setup():
    """systemd gives the service the settings that setup wrote, however the operator wrote the file by hand."""
    path = "/etc/regent/regentd.env"
    kept = stage.machine.run("cat", path)
    other = "http://192.168.7.1:9999"
    for text in (
            f"{kept}  REGENT_PUBLIC_URL = {other}\n", f"REGENT_PUBLIC_URL={other}\n{kept}".replace("\n", "\r\n"),
            f"{kept}# C:\\\nREGENT_PUBLIC_URL={other}\n",
            kept + f"REGENT_PUBLIC_URL={other[:-2]}\\\n{other[-2:]}\n", kept + f"REGENT_PUBLIC_URL='{other}\n'\nREGENT_LOG=te\\\nxt\n"):
        stage.machine.write(path, text, 0o640)
        said = stage.machine.run("regentctl", "setup", "--public-url", PUBLIC_URL, text="")
        assert "BAD" not in said, said
        stage.machine.run("systemctl", "restart", "regentd")
        given = stage.machine.run("sh", "-c", f"tr '\\0' '\\n' </proc/{running()}/environ").split("\n")
        for wanted in (f"REGENT_PUBLIC_URL={PUBLIC_URL}", "REGENT_LISTEN=*:8787", "REGENT_ADMIN_GROUP=regent-admin"):
            assert wanted in given, (wanted, text, given)
    stage.machine.write(path, kept, 0o640)
    stage.machine.run("systemctl", "restart", "regentd")
    running()


def members_of_a_group_have_its_role():
    """The reception may set a viewer's password, and may not copy the database; another user may nothing."""
    kept = stage.machine.run("cat", "/etc/regent/regentd.env")
    said = stage.machine.run("regentctl", "setup", "--desk-group", "reception", text="")
    assert "+ REGENT_ADMIN_DESK_GROUP=reception" in said and "BAD" not in said, said
    stage.machine.run("sh", "-ec", """
        for user in ella otto uwe; do useradd -m $user; done
        usermod -aG reception ella && usermod -aG regent-admin otto""")
    calls = (
        ("regentctl stats", "ella otto"), ("echo a long enough password | regentctl account password cable anna", "ella otto"),
        ("regentctl requestor add more", "otto"), ("regentctl backup $HOME/copy.db", "otto"))
    try:
        for is_restarted in (False, True):
            for call, able in calls:
                for user in ("ella", "otto", "uwe"):
                    code = stage.machine.code("runuser", "-l", user, "-c", f"rm -f copy.db; {call}")
                    assert (code == 0) == (user in able.split()), (user, call, code)
            stage.machine.run("systemctl", "restart", "regentd")
            running()
        said = stage.machine.run("runuser", "-l", "ella", "-c", "regentctl backup copy.db 2>&1", fails=True)
        assert "needs the role owner" in said and "has the role desk" in said, said
    finally:
        stage.machine.write("/etc/regent/regentd.env", kept, 0o640)
        stage.machine.run("sh", "-ec", "chgrp regentd /etc/regent/regentd.env; systemctl restart regentd")
        running()
        stage.machine.run("sh", "-ec", "regentctl requestor remove more --yes; for user in ella otto uwe; do userdel -r $user; done; groupdel reception")


def a_reload_with_a_wrong_certificate_fails():
    """systemctl reload reports a certificate and a key that do not fit, and the service continues with the old ones."""
    kept = stage.machine.run("cat", "/etc/regent/regentd.env")
    files = {name: f"/etc/regent/{name}.pem" for name in ("chain", "key")}

    def pair(*names):
        """Writes these files of a new pair."""
        with tempfile.TemporaryDirectory() as folder:
            made = {name: f"{folder}/{name}" for name in files}
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                 "-subj", "/CN=tv", "-addext", "subjectAltName=IP:192.168.7.1", "-keyout", made["key"], "-out", made["chain"]],
                check=True, capture_output=True)
            for name in names:
                stage.machine.write(files[name], pathlib.Path(made[name]).read_text(), 0o640)
                stage.machine.run("chgrp", "regentd", files[name])

    def served():
        return stage.machine.run(
            "sh", "-c", "curl -skv https://192.168.7.1:8443/readyz 2>&1 | grep -E 'start date|expire date|serial|SSL certificate verify' ;"
            " curl -sk -o /dev/null -w '%{http_code} %{certs}' https://192.168.7.1:8443/healthz")

    pair("chain", "key")
    try:
        stage.machine.run(
            "regentctl", "setup", "--public-url", "https://192.168.7.1:8443", "--certificate", files["chain"], "--certificate-key",
            files["key"], text="")
        first, pid = served(), running()
        assert first.count("200"), first
        pair("chain")
        why = stage.machine.run("sh", "-c", "systemctl reload regentd 2>&1", fails=True)
        assert "failed" in why, why
        assert served() == first and running() == pid
        pair("chain", "key")
        stage.machine.run("systemctl", "reload", "regentd")
        stage.machine.until("the new certificate", lambda: served() != first)
        assert running() == pid
    finally:
        stage.machine.write("/etc/regent/regentd.env", kept, 0o640)
        stage.machine.run("sh", "-ec", f"chgrp regentd /etc/regent/regentd.env; rm -f {' '.join(files.values())}; systemctl restart regentd")
        running()


def a_box_pairs_and_plays():
    install(*files(names=("regent",)))
    said = stage.machine.run("regent", "setup", "--code", enrolment)
    assert "BAD" not in said and "ok    daemon: the daemon runs" in said and "to sign in, run regent pair" in said, said
    assert stage.machine.run("stat", "-c", "%U:%G %a", "/etc/regent/secret").strip() == "root:root 600"
    assert stage.machine.run("stat", "-c", "%U:%G %a", "/etc/regent/agent.conf").strip() == "root:root 644"
    stage.machine.run("systemctl", "start", "regent.service")
    with stage.machine.console() as screen:
        unit = f"regent-pair@pts-{screen.number}"
        stage.machine.run("systemctl", "start", unit)
        stage.machine.run("regentctl", "code", "approve", screen.code(), "--provider", "cable", "--account", "anna")
        stage.machine.until("the pairing screen ends", lambda: stage.machine.show(unit, "ActiveState") == "inactive")
    stage.machine.run("systemctl", "restart", "regent")
    stage.machine.until("the box is signed in", lambda: stage.machine.code("regent", "status") == 0)
    assert a_token()


def a_backup_is_made_every_night():
    before = int(stage.machine.run("sh", "-c", "ls /var/backups/regentd/regent-*.db | wc -l"))
    stage.machine.run("systemctl", "start", "regentd-backup.service")
    assert int(stage.machine.run("sh", "-c", "ls /var/backups/regentd/regent-*.db | wc -l")) == before + 1
    assert stage.machine.run("stat", "-c", "%U %a", "/var/backups/regentd").strip() == "regentd 700"


def an_erased_name_is_in_nightly_backups_for_fourteen_nights():
    stage.machine.run("sh", "-ec", "regentctl account add cable berta --no-password && systemctl start regentd-backup.service")
    said = stage.machine.run("regentctl", "account", "erase", "cable", "berta", "--yes")
    newest = stage.machine.run("sh", "-c", "ls /var/backups/regentd/regent-*.db | tail -n 1").strip()
    day = stage.machine.run("date", "-u", "-d", "+14 days", "+%F").strip()
    assert f"{newest}: until about {day}, when nightly backups have replaced it" in said, (said, day)
    # With the timer switched off nothing replaces the backup.
    stage.machine.run("systemctl", "stop", "regentd-backup.timer")
    try:
        said = stage.machine.run("regentctl", "account", "erase", "cable", "berta", "--yes")
        assert f"{newest}: until you delete it" in said, said
    finally:
        stage.machine.run("systemctl", "start", "regentd-backup.timer")
    # Thirteen later nights leave it there, the fourteenth deletes it.
    for night in range(1, 15):
        assert stage.machine.code("test", "-e", newest) == 0, night
        stage.machine.run("systemctl", "start", "regentd-backup.service")
        stage.machine.run("systemctl", "reset-failed", "regentd-backup.service", fails=None)
    assert stage.machine.code("test", "-e", newest) != 0


def the_nightly_backup_can_be_restored():
    stage.machine.run("systemctl", "start", "regentd-backup.service")
    newest = stage.machine.run("sh", "-c", "ls /var/backups/regentd/regent-*.db | tail -n 1").strip()
    stage.machine.run("regentctl", "requestor", "add", "later")
    stage.machine.run("systemctl", "stop", "regentd")
    said = stage.machine.run("regentctl", "restore", newest, "--yes")
    assert "the previous database is kept as" in said, said
    stage.machine.run("systemctl", "start", "regentd")
    running()
    assert requestors() == {"acme"}
    assert stage.machine.run("stat", "-c", "%U %a", "/var/lib/regentd/regent.db").strip() == "regentd 600"
    assert a_token()


def held():
    """The number of boxes that wait in a long poll; None while the service does not respond."""
    said = stage.machine.run("regentctl", "--json", "stats", fails=None)
    return json.loads(said)["waiting"] if said.startswith("{") and '"waiting"' in said else None


def waiting_box():
    """A second box with its own state that shows its code, started as an operator would."""
    return subprocess.Popen(
        ["nsenter", "-t", str(stage.machine.leader), "-a", "--", "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/root",
         "/usr/bin/regent", "pair", "--state", "/root/second", "--name", "Kitchen", "--socket", "/root/no.sock"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def an_upgrade_interrupts_no_box():
    pid, settings = running(), stage.machine.run("cat", "/etc/regent/regentd.env")
    box = waiting_box()
    code = next(found[0] for line in box.stdout if (found := re.search(r"\b[B-Z]{4}-[B-Z]{4}\b", line)))
    stage.machine.until("the second box is held", held)
    said = install(*files(stage.newer))
    assert running() != pid
    ready = time.monotonic()
    stage.machine.until("the second box is held again", held, seconds=10)
    print(f"   a waiting box is in a long poll again {time.monotonic() - ready:.1f} s after the restart")
    assert box.poll() is None
    stage.machine.run("regentctl", "code", "approve", code, "--provider", "cable", "--account", "anna")
    rest = box.communicate(timeout=60)[0]
    assert box.returncode == 0, rest
    assert stage.machine.run("cat", "/etc/regent/regentd.env") == settings
    assert stage.machine.run("stat", "-c", "%a", f"/var/backups/regentd/before-{NEWER}.db").strip() == "600", said
    assert requestors() == {"acme"}
    assert a_token()


def an_upgrade_follows_no_link_of_the_service_user():
    """A process with the service's user puts a link or a folder where root's upgrade writes its copy."""
    stage.machine.run("sh", "-ec", f"""
        install -d -m 755 /srv/target
        cd /var/backups/regentd
        rm -f before-{stage.version}.*
        runuser -u regentd -- ln -s /srv/target before-{stage.version}.db
        runuser -u regentd -- mkdir -p before-{stage.version}.2.db.new/inside""")
    install(*files(names=("regentctl", "regentd")), downgrade=True)
    assert stage.machine.run("find", "/srv/target", "-mindepth", "1") == ""
    stage.machine.run("sh", "-ec", f"rm -rf /srv/target /var/backups/regentd/before-{stage.version}.*")
    install(*files(stage.newer))
    running()
    assert requestors() == {"acme"}


def an_older_version_is_refused():
    said = install(*files(names=("regentd",)), fails=True)
    assert "may have changed the database" in said and "REGENT_DOWNGRADE=1" in said, said
    # With an older regentctl beside the newer regentd, apt would advise a command that removes the service.
    said = install(*files(names=("regentctl",)), fails=True)
    assert "belongs to the installed regentd" in said, said
    assert "iU" not in stage.machine.run("dpkg", "-l", "regentctl", "regentd")
    install(*files(stage.newer))
    assert requestors() == {"acme"}


def an_installation_killed_at_any_step_can_be_repeated():
    """dpkg reports its steps; it is killed at the first one, then at the second one, and so on."""
    step = 0
    while True:
        step += 1
        program = subprocess.Popen(
            ["nsenter", "-t", str(stage.machine.leader), "-a", "--", "/bin/sh", "-c",
             "export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive; echo pid $$; exec dpkg --status-fd 1 -i \"$@\"",
             "sh", *files(stage.newer)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        pid = program.stdout.readline().split()[1]
        steps = 0
        for line in program.stdout:
            steps += re.match(r"(status|processing): ", line) is not None
            if steps == step:
                stage.machine.run("kill", "-9", pid, fails=None)
                break
        program.stdout.read()
        program.wait()
        if steps < step:
            break
        install(*files(stage.newer))
        running()
        assert stage.machine.run("dpkg", "--audit") == ""
        assert requestors() == {"acme"}
    assert step > 10, step
    assert a_token()
    print(f"   killed at {step - 1} steps")


def removing_keeps_data_and_settings():
    stage.machine.run("dpkg", "-r", *reversed(NAMES))
    assert stage.machine.code("test", "-e", "/usr/bin/regentd") != 0
    assert stage.machine.code("systemctl", "is-active", "regentd") != 0
    for path in ("/var/lib/regentd/regent.db", "/etc/regent/regentd.env", "/etc/regent/agent.conf"):
        assert stage.machine.code("test", "-e", path) == 0, path
    install(*files(stage.newer))
    running()
    assert requestors() == {"acme"} and a_token()


# The files that a killed setup leaves, and units that an operator enabled by name.
LEFT = (
    "/etc/regent/.agent.conf.new0", "/etc/regent/.secret.new0", "/etc/regent/.secret.new1", "/etc/regent/.agent.conf.lock",
    "/etc/regent/.regentd.env.new0", "/etc/regent/.regentd.env.lock")
ENABLED = ("regentd@1", "regent-launcher@tty3", "regent-pair@tty4", "regent-app@boxed.socket")


def accounts():
    """The users and groups of the packages."""
    return set(re.findall(r"^(regent[a-z-]*):", stage.machine.run("getent", "passwd") + stage.machine.run("getent", "group"), re.M))


def purging_leaves_nothing():
    """Purging also removes data that was moved elsewhere with a link, and nothing beside it. It leaves drop-ins of an
    administrator, users and groups, and says why."""
    stage.machine.run("touch", *LEFT)
    stage.machine.run("systemctl", "enable", *ENABLED)
    stage.machine.run("systemctl", "stop", "regentd", "regent.socket", "regent")
    stage.machine.run("sh", "-ec", """
        mkdir -m 755 /srv/elsewhere && echo kept >/srv/elsewhere/other
        mv /var/lib/regentd /srv/elsewhere/regentd && ln -s /srv/elsewhere/regentd /var/lib/regentd
        # A folder that others use, too.
        mv /var/lib/regent/* /srv/elsewhere && rmdir /var/lib/regent && ln -s /srv/elsewhere /var/lib/regent""")
    drop_ins = {f"/etc/systemd/system/{unit}.d" for unit in ("regent-app@boxed.socket", "regentd.service")}
    for folder in drop_ins:
        stage.machine.write(f"{folder}/own.conf", "[Unit]\nDescription=An administrator's\n")
    said = stage.machine.run("sh", "-c", f"DEBIAN_FRONTEND=noninteractive dpkg -P {' '.join(reversed(NAMES))} 2>&1")
    # What stays is named, and each command that is offered removes it.
    offered = re.findall(r"(rm -r '\S+'|(?:user|group)del [a-z-]+)", said)
    assert {command.split("'")[1] for command in offered if command.startswith("rm")} == drop_ins, said
    assert accounts() == {"regent", "regent-launcher", "regentd", "regent-admin", "regent-proxy"} and len(offered) == 7, said
    for command in offered:
        stage.machine.run("sh", "-c", command)
    assert not accounts()
    left = listing() - clean
    assert not left, sorted(left)
    links = stage.machine.run("find", "/etc/systemd/system", "/var/lib", "-name", "regent*", fails=None)
    assert not links, links
    assert stage.machine.run("find", "/srv/elsewhere", "-mindepth", "1").split() == ["/srv/elsewhere/other"]
    stage.machine.run("rm", "-r", "/srv/elsewhere")
    assert "regent" not in stage.machine.run("systemctl", "list-unit-files", "--no-pager", fails=None)


def a_box_without_settings_starts_no_unit():
    install(*files(stage.newer))
    running()
    assert requestors() == set()
    for unit in ("regent.service", "regent.socket"):
        assert stage.machine.show(unit, "ActiveState") == "inactive" and stage.machine.show(unit, "UnitFileState") == "enabled"
    assert stage.machine.run("systemctl", "--failed", "--no-legend", "--plain", "list-units", "regent*", fails=None) == ""


def a_database_of_the_first_release_is_upgraded():
    """A database of 0.1.0 is used by an older package and upgraded by this one; then the older package is refused."""
    stage.machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))
    install(*files(stage.older, names=("regentctl", "regentd")))
    running()
    stage.machine.run("systemctl", "stop", "regentd")
    for name in ("regent.db", "master-key"):
        stage.machine.run("sh", "-c", f"rm -f /var/lib/regentd/{name}*")
        stage.machine.run("install", "-m", "600", "-o", "regentd", "-g", "regent-admin", f"{EARLIER}/{name}", f"/var/lib/regentd/{name}")
    stage.machine.run("systemctl", "start", "regentd")
    running()
    facts = json.loads((EARLIER / "facts.json").read_text())
    assert facts["requestor"] in requestors()
    install(*files(names=("regentctl", "regentd")))
    running()
    assert facts["requestor"] in requestors()
    assert stage.machine.run("stat", "-c", "%a", f"/var/backups/regentd/before-{stage.version}.db").strip() == "600"
    install(*files(stage.older, names=("regentd",)), fails=True)
    running()
    assert facts["requestor"] in requestors()


def debians_own_test_passes():
    """deploy/debian/tests, run by autopkgtest on this machine."""
    stage.machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))
    said = stage.machine.run("autopkgtest", "--no-built-binaries", *files(), f"{stage.source}/", "--", "null")
    assert re.search(r"first-start +PASS", said), said


STEPS = (
    the_package_starts_the_service_without_a_question, setup_ends_without_a_finding, systemd_uses_the_settings_of_setup,
    members_of_a_group_have_its_role, a_reload_with_a_wrong_certificate_fails,
    a_box_pairs_and_plays,
    a_backup_is_made_every_night, an_erased_name_is_in_nightly_backups_for_fourteen_nights,
    the_nightly_backup_can_be_restored, an_upgrade_interrupts_no_box,
    an_upgrade_follows_no_link_of_the_service_user, an_older_version_is_refused,
    an_installation_killed_at_any_step_can_be_repeated, removing_keeps_data_and_settings, purging_leaves_nothing,
    a_box_without_settings_starts_no_unit, a_database_of_the_first_release_is_upgraded,
    from_nothing_to_a_code_on_the_screen,
    setup_offers_another_port_when_the_port_is_taken, a_box_finds_the_service_in_the_network, debians_own_test_passes)

MAIN_WAY = (
    the_package_starts_the_service_without_a_question, setup_ends_without_a_finding, a_box_pairs_and_plays,
    a_backup_is_made_every_night,
    the_nightly_backup_can_be_restored, an_upgrade_interrupts_no_box, an_older_version_is_refused,
    removing_keeps_data_and_settings,
    purging_leaves_nothing, a_box_without_settings_starts_no_unit, a_database_of_the_first_release_is_upgraded)

suite = sys.argv[2] if len(sys.argv) > 2 else None
stage.version = re.search(r"regentd_([^_]+)_", next(built.glob("regentd_*.deb")).name)[1]
with tempfile.TemporaryDirectory() as folder:
    stage.newer, stage.older, stage.source = (pathlib.Path(folder) / name for name in ("newer", "older", "source"))
    for made in (stage.newer.parent, stage.newer, stage.older, stage.source):
        made.mkdir(exist_ok=True)
        made.chmod(0o755)
    shutil.copytree(place / "deploy/debian", stage.source / "debian")
    # autopkgtest needs a changelog; deploy/deb writes the real one.
    (stage.source / "debian/changelog").write_text(
        f"regent ({stage.version}) unstable; urgency=medium\n\n  * Tested.\n\n -- R <r@example.org>  Tue, 24 Nov 2026 00:00:00 +0000\n")
    try:
        stage.machine = Container(
            place / ".build" / Container.packaging_folder(suite), suite=suite,
            binds=(str(built), str(stage.newer), str(stage.older), str(EARLIER), str(stage.source)),
            more=PACKAGING)
    except Unavailable as reason:
        print(f"packages: NOT RUN, no systemd can be booted here: {reason}")
        sys.exit(0)
    try:
        repacked(stage.newer, NEWER)
        repacked(stage.older, OLDER)
        # The address that phones open must be an address of this machine.
        subprocess.run(
            ["nsenter", "-t", str(stage.machine.leader), "-n", "--", "ip", "address", "add", "192.168.7.1/32", "dev", "lo"],
            check=True)
        clean = listing()
        for step in STEPS if suite is None else MAIN_WAY:
            begun_step = time.monotonic()
            step()
            print(f"ok {step.__name__.replace('_', ' ')} ({time.monotonic() - begun_step:.1f} s)", flush=True)
    except BaseException:
        print(stage.machine.log("regentd", "regent", "regent-pair@*", "regentd-backup", "regentd-announce", "avahi-daemon", lines=60), file=sys.stderr)
        raise
    finally:
        stage.machine.stop()
