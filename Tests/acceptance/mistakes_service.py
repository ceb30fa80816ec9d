"""The mistakes of mistakes.py that an operator makes at the service."""

from mistakes_stage import (PASSWORD, SETTINGS, clock, doctor, edit, is_well, kept, line_of, mistake, plays, restart, shell, told)
from packages_stage import PUBLIC_URL, files, running, stage


def instead(wrong, right):
    """A command that does not exist leads to the one that does."""
    found = told(shell(wrong, fails=True), r'did you mean "(regentctl [a-z-]+)"\?')
    line = found.group(1) + wrong[len(" ".join(wrong.split()[:2])):]
    assert line == right, line
    shell(line)
    return line_of(found)


@mistake(1, "`acount`, `requester`")
def misspelt_nouns():
    instead("regentctl requester list", "regentctl requestor list")
    return instead("regentctl acount list guests", "regentctl account list guests")


@mistake(2, "`user`, `box`, `entitlement` as nouns")
def other_nouns():
    instead("regentctl box list", "regentctl device list")
    instead("regentctl entitlement list guests", "regentctl entitle list guests")
    return instead("regentctl user list guests", "regentctl account list guests")


@mistake(3, "`integrate guests hotel` (reversed)")
def reversed_arguments():
    shell("regentctl requestor add lobby")
    found = told(shell("regentctl integrate guests lobby", fails=True), r"hint: swap them; the requestor comes first: (lobby guests)")
    shell(f"regentctl integrate {found.group(1)} && regentctl requestor remove lobby --yes")
    return line_of(found)


@mistake(4, "a name with a space in setup")
def name_with_a_space():
    said = shell(f"regentctl setup --public-url {PUBLIC_URL} --requestor 'lake house' --invite </dev/null", fails=True)
    found = told(said, "hint: use 1 to 128 letters, digits, dots, dashes or underscores, without spaces")
    shell(f"regentctl setup --public-url {PUBLIC_URL} --requestor lake-house --invite </dev/null")
    shell("regentctl requestor remove lake-house --yes")
    return line_of(found)


@mistake(5, "a CSV file of passwords for `apply`")
def passwords_as_csv():
    stage.machine.write("/root/rooms.csv", f"name,password\nroom1,{PASSWORD}\nroom2,{PASSWORD}\n")
    first = told(shell("regentctl apply /root/rooms.csv", fails=True), r"(regentctl account import) PROVIDER (\S+)")
    line = f"{first.group(1)} guests {first.group(2)}"
    # The file is readable for every user, which the import refuses.
    shell(told(shell(line, fails=True), r"chmod 600 \S+").group(0))
    shell(line)
    assert "room2" in shell("regentctl account list guests")
    shell("regentctl account remove guests room1 --yes; regentctl account remove guests room2 --yes")
    return line_of(first)


@mistake(6, "`--household siute` (typo)")
def misspelt_household():
    shell("regentctl account set guests anna --household suite")
    said = shell("regentctl entitle add guests --allow 'pay-*' --household siute")
    found = told(said, r"did you mean (suite)\? To remove the rule, run (regentctl entitle remove \w+)")
    shell(f"{found.group(2)} && regentctl entitle add guests --allow 'pay-*' --household {found.group(1)}")
    assert "siute" not in shell("regentctl entitle list guests")
    return line_of(found)


@mistake(7, "a rule is forgotten")
def forgotten_rule():
    rule = told(shell("regentctl entitle list guests"), r"^(\w+) +allow +\* ").group(1)
    shell(f"regentctl entitle remove {rule}")
    found = told(shell("regent authorize sport-1", fails=True), r"(regentctl why) BOX (\S+) \((regentctl device list) shows BOX\)")
    box = shell(found.group(3)).split("\n")[1].split()[0]
    why = shell(f"{found.group(1)} {box} {found.group(2)}", fails=True)
    shell(told(why, r"fix: (regentctl entitle add .*)").group(1))
    plays("sport-1")
    shell("regentctl entitle add guests --allow '*'")
    return line_of(found)


@mistake(8, "an integration is missing")
def missing_integration():
    shell("regentctl requestor add kids && regentctl key issue kids")
    found = told(doctor(), r"fix: (regentctl integrate kids) PROVIDER")
    shell(f"{found.group(1)} guests")
    assert "kids" not in doctor()
    shell("regentctl requestor remove kids --yes")
    return line_of(found)


@mistake(11, "an https public URL by hand (service)")
def https_by_hand():
    with kept(SETTINGS, unit="regentd"):
        edit(SETTINGS, "^REGENT_PUBLIC_URL=http:", "REGENT_PUBLIC_URL=https:", "regentd")
        found = told(doctor(), r"without TLS use --public-url (http://\S+)")
        shell(f"regentctl setup --public-url {found.group(1)} </dev/null")
        assert "--public-url" not in doctor().replace("setup --public-url", "")
        is_well()
    return line_of(found)


@mistake(12, "an address without scheme")
def address_without_scheme():
    with kept(SETTINGS, unit="regentd"):
        edit(SETTINGS, "^REGENT_PUBLIC_URL=http://", "REGENT_PUBLIC_URL=", "regentd")
        reason = shell(told(doctor(), r"journalctl -u regentd -n 20").group(0))
        found = told(reason, r"hint: write (http://\S+), or https://\S+ if it has TLS")
        edit(SETTINGS, "^REGENT_PUBLIC_URL=.*", f"REGENT_PUBLIC_URL={found.group(1)}", "regentd")
        is_well()
    again = told(shell("regentctl setup --public-url 192.168.7.1:8787 </dev/null", fails=True), r"hint: write (http://\S+), or")
    assert again.group(1) == PUBLIC_URL
    return line_of(again)


@mistake(13, "the port is taken")
def port_taken():
    with kept(SETTINGS, unit="regentd"):
        stage.machine.run("systemctl", "stop", "regentd")
        stage.machine.run(
            "systemd-run", "--unit=other", "python3", "-c",
            "import signal, socket; one = socket.create_server(('', 8787)); signal.pause()")
        try:
            stage.machine.until("the other program listens", lambda: "python3" in shell("ss -Hltnp sport = :8787"))
            said = shell(f"regentctl setup --public-url {PUBLIC_URL} </dev/null", fails=True)
            found = told(said, r"already used by python3(?s:.*)(--public-url http://\S+:8788)")
            shell(f"regentctl setup {found.group(1)} </dev/null")
            running()
            assert "BAD" not in doctor()
        finally:
            stage.machine.run("systemctl", "stop", "other")
    is_well()
    return line_of(told(said, "already used by python3"))


@mistake(14, "a typo in `regentd.env`")
def misspelt_setting():
    with kept(SETTINGS, unit="regentd"):
        edit(SETTINGS, r"\Z", "REGENT_LOGG=json\n", "regentd")
        running()
        found = told(doctor(), r"settings: there is no setting (REGENT_LOGG): it has no effect\s+fix: did you mean (REGENT_LOG)\?")
        edit(SETTINGS, f"^{found.group(1)}=", f"{found.group(2)}=", "regentd")
        running()
        assert "no setting" not in doctor()
        edit(SETTINGS, "^REGENT_PUBLIC_URL=", "REGENT_PUBLIC_ULR=", "regentd")
        reason = shell(told(doctor(), r"journalctl -u regentd -n 20").group(0))
        found = told(reason, r"there is no setting (REGENT_PUBLIC_ULR): it has no effect; did you mean (REGENT_PUBLIC_URL)\?")
        edit(SETTINGS, f"^{found.group(1)}=", f"{found.group(2)}=", "regentd")
        is_well()
    return line_of(found)


@mistake(19, "not in the admin group")
def not_in_the_group():
    shell("useradd -m bob")
    said = stage.machine.run("runuser", "-l", "bob", "-c", "regentctl requestor list", fails=True)
    found = told(said, r"sudo (usermod -aG regent-admin) \$USER, then log in again")
    shell(f"{found.group(1)} bob")
    assert "hotel" in stage.machine.run("runuser", "-l", "bob", "-c", "regentctl requestor list")
    return line_of(found)


@mistake(21, "the service's clock is 40 s ahead")
def clock_ahead():
    with clock("regentd", "+40s"):
        running()
        stage.titles += 1
        token = shell(f"regent token film-{stage.titles}").strip()
        verified = shell(f"regent authorize film-{stage.titles} --verify", fails=True)
        first = told(verified, r"dated \d+ s in the future: the clocks differ")
        box = shell("regent doctor", fails=None)
        found = told(box, r"clock: this box's clock is (39|40) s behind the service's\s+hint: set the clock: timedatectl set-ntp true")
        assert token
    # What timedatectl would do for the service's machine; the warning ends without another command.
    is_well()
    assert "same time as the service" in shell("regent doctor")
    return line_of(first) + "; doctor: " + line_of(found)


@mistake(23, "a full disk (5 MB)")
def full_disk():
    stage.machine.run("systemctl", "stop", "regentd")
    shell("""cp -a /var/lib/regentd /root/lib
        mount -t tmpfs -o size=5m,uid=$(id -u regentd),gid=$(getent group regent-admin | cut -d: -f3),mode=700 tmpfs /var/lib/regentd
        cp -a /root/lib/. /var/lib/regentd && systemctl start regentd""")
    try:
        running()
        shell("dd if=/dev/zero of=/var/lib/regentd/fill bs=1k", fails=True)
        found = told(doctor(), r"disk: the disk of \S+ is full.*\s+fix: free space; the service then continues by itself: .*(du -xh \S+)")
        told(shell("regentctl requestor add later", fails=True), "the disk is full: free space; the service then continues by itself")
        assert "/fill" in shell(f"{found.group(1)} -a")
        shell("rm /var/lib/regentd/fill")
        stage.machine.until("the service writes again", lambda: stage.machine.code("regentctl", "requestor", "add", "later") == 0)
    finally:
        stage.machine.run("systemctl", "stop", "regentd")
        shell("umount /var/lib/regentd && rm -r /root/lib")
        restart("regentd")
    is_well()
    return line_of(told(found.string, "fix: free space; the service"))


@mistake(24, "the master key is deleted while the service runs")
def deleted_master_key():
    shell("rm /var/lib/regentd/master-key")
    found = told(doctor(), r"master-key: \S+ is missing: the next start.*\s+fix: .*or run (regentctl master-key change) while the service runs")
    # The command asks; without a terminal it says what to add.
    yes = told(shell(found.group(1), fails=True), r"add (--yes) to confirm").group(1)
    shell(f"{found.group(1)} {yes}")
    restart("regentd")
    is_well()
    return line_of(told(found.string, "master-key: .* is missing"))


@mistake(25, "the database file is copied while the service runs, and restored")
def copied_database():
    shell("cp /var/lib/regentd/regent.db /root/copy.db && systemctl stop regentd")
    found = told(
        shell("regentctl restore /root/copy.db --yes", fails=True),
        r"is not a complete backup.*\s+hint: .*use a complete one that (regentctl backup) wrote")
    restart("regentd")
    running()
    shell(f"{found.group(1)} /root/whole.db && systemctl stop regentd && regentctl restore /root/whole.db --yes && systemctl start regentd")
    is_well()
    return line_of(told(found.string, "is not a complete backup"))


@mistake(26, "a restore beside the running service")
def restore_beside_the_service():
    shell("regentctl backup /root/good.db")
    found = told(shell("regentctl restore /root/good.db --yes", fails=True), r"held by process \d+\s+hint: stop it first \(with systemd: (systemctl stop regentd)\)")
    after = told(shell(f"{found.group(1)} && regentctl restore /root/good.db --yes"), r"start the service \(with systemd: (systemctl start regentd)\)")
    shell(after.group(1))
    is_well()
    return line_of(told(found.string, "held by process"))


@mistake(27, "a downgrade")
def downgrade():
    older = files(stage.older, names=("regentd",))[0]
    found = told(stage.machine.run("dpkg", "-i", older, fails=True), r"regentd:   (sudo REGENT_DOWNGRADE=1 dpkg -i regentctl_\S+ regentd_\S+)")
    # Keeping the newer version needs nothing; going back takes the printed command.
    assert stage.machine.run("dpkg", "--audit") == ""
    is_well()
    shell(f"cd {stage.older} && {found.group(1)}")
    running()
    shell(f"dpkg -i {' '.join(files(names=('regentctl', 'regentd')))}")
    if stage.programs:
        shell(f"install -m 755 {stage.programs}/regent {stage.programs}/regentctl {stage.programs}/regentd /usr/bin/ && systemctl restart regentd")
    is_well()
    return line_of(told(found.string, "regentd: keep .*; to go back nevertheless"))


@mistake(30, "`apply --prune` with a section left out")
def prune_with_a_section_left_out():
    shell("""regentctl export >/root/all.json
        python3 -c "import json; all = json.load(open('/root/all.json')); del all['accounts']; json.dump(all, open('/root/some.json', 'w'))" """)
    said = shell("regentctl apply /root/some.json --prune --yes")
    found = told(said, r"not in the file, and left as they are: accounts")
    assert "anna" in shell("regentctl account list guests")
    is_well()
    return line_of(found)
