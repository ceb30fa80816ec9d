"""The mistakes of mistakes.py that an operator makes at the box, and those with certificates."""

from mistakes_stage import (BOX, FAKETIME, SECRET, SETTINGS, doctor, edit, invitation, is_well, kept, line_of, mistake, pair, plays, restart, shell, told)
from packages_stage import PUBLIC_URL, running, stage


def box_doctor():
    return shell("regent doctor", fails=None)


@mistake(9, "a wrong port on the box")
def wrong_port():
    with kept(BOX, unit="regent"):
        edit(BOX, ":8787", ":8797", "regent")
        told(shell("regent authorize film-x", fails=True), r"no program listens there\s+hint: .*: regent doctor")
        found = told(box_doctor(), r"hint: check that the service runs and that the port is right; the address is set in (\S+)")
        edit(found.group(1), ":8797", ":8787", "regent")
        plays()
    return line_of(found)


@mistake(10, "https on a plain service (box)")
def https_on_a_plain_service():
    with kept(BOX, unit="regent"):
        edit(BOX, "http:", "https:", "regent")
        found = told(box_doctor(), r"hint: if the service has no TLS there, use (http://).*; the address is set in (\S+)")
        edit(found.group(2), "https://", found.group(1), "regent")
        plays()
    return line_of(found)


@mistake(15, "a typo in `agent.conf`")
def misspelt_setting_of_the_box():
    with kept(BOX, unit="regent"):
        edit(BOX, "^service", "servce", "regent")
        found = told(box_doctor(), r"settings: (\S+) line 1: there is no setting \"servce\"\s+hint: did you mean (service)\?")
        edit(found.group(1), "^servce", found.group(2), "regent")
        plays()
    return line_of(told(found.string, "there is no setting"))


@mistake(16, "a wrong requestor on the box")
def wrong_requestor():
    with kept(BOX, unit="regent"):
        edit(BOX, "^requestor = .*", "requestor = hotle", "regent")
        said = box_doctor()
        found = told(said, r"the key pair belongs to another requestor\s+hint: use the requestor .*: (regentctl key show) PUBLIC-KEY")
        key = told(said, r"credentials: key pair (\S+)").group(1)
        right = told(shell(f"{found.group(1)} {key}"), r"(?m)^requestor +(\S+)").group(1)
        edit(BOX, "^requestor = .*", f"requestor = {right}", "regent")
        plays()
    return line_of(told(said, "hint: use the requestor"))


@mistake(17, "the secret's file has mode 0644")
def readable_secret():
    stage.machine.run("chmod", "644", SECRET)
    found = told(box_doctor(), rf"hint: run (chmod 600 {SECRET})")
    shell(found.group(1))
    assert "BAD" not in box_doctor()
    plays()
    return line_of(found)


@mistake(18, "the secret's file is missing")
def missing_secret():
    with kept(BOX):
        stage.machine.run("rm", SECRET)
        restart("regent")
        told(shell("regent status", fails=True), r"sudo regent doctor")
        found = told(box_doctor(), r"the secret of the key pair is missing\s+hint: .*; without a copy of it, enrol the box again: sudo (regent setup)")
        shell(f"{found.group(1)} --code '{PUBLIC_URL}#{invitation()}'")
        assert "BAD" not in box_doctor()
        enrolled = stage.machine.run("cat", BOX)
    # The new key pair stays.
    stage.machine.write(BOX, enrolled)
    restart("regent")
    if stage.machine.code("regent", "status") != 0:
        pair()
    plays()
    return line_of(told(found.string, "hint: put it into"))


@mistake(20, "an enrolment code is expired or mistyped")
def wrong_code():
    right = invitation()
    wrong = right[:-1] + ("2" if right[-1] != "2" else "3")

    def enrol(box, code, fails=None):
        return shell(f"regent setup --config /root/{box}/agent.conf --state /root/{box}/state --code '{PUBLIC_URL}#{code}'", fails)

    shell("mkdir -m 700 /root/second /root/third")
    found = told(
        enrol("second", wrong, fails=True),
        r"this code is wrong, used or expired\s+hint: compare each character; .* makes a new one with (regentctl requestor invite) REQUESTOR")
    assert "this box is enrolled for hotel" in enrol("second", right)
    # The same code at another box: it has been used.
    told(enrol("third", right, fails=True), "this code is wrong, used or expired")
    new = told(shell(f"{found.group(1)} hotel"), r"[0-9A-Z]{4}(-[0-9A-Z]{4}){3}").group(0)
    assert "this box is enrolled for hotel" in enrol("third", new)
    return line_of(told(found.string, "hint: compare each character"))


@mistake(22, "the box's clock is two days off")
def clock_two_days_off():
    said = shell(f"LD_PRELOAD={FAKETIME} FAKETIME=+2d regent doctor", fails=None)
    found = told(said, r"this box's clock is 172(?:799|8\d\d) s ahead of the service's\s+hint: set the clock: timedatectl set-ntp true, or date -s")
    # This machine has one clock, so that the box's is right again when its program no longer runs with another one.
    assert "same time as the service" in box_doctor()
    return line_of(found)


def certificate(days):
    """Makes a certificate of a private authority for this service; negative days make an expired one."""
    shell(f"""cd /root/tls
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=192.168.7.1 -keyout key -out request 2>/dev/null
        printf 'subjectAltName=IP:192.168.7.1\\nbasicConstraints=critical,CA:FALSE' >more
        openssl x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -days {days} -extfile more -out pem 2>/dev/null
        install -m 640 -g regentd key /etc/regent/privkey.pem && install -m 644 pem /etc/regent/fullchain.pem""")


@mistake(28, "a certificate that has expired")
def expired_certificate():
    """Also makes the certificates for the next mistake, which leaves the service with plain http again."""
    shell("""mkdir /root/tls && cd /root/tls
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=House CA" -keyout ca.key -out ca.pem 2>/dev/null
        install -m 644 ca.pem /etc/regent/house.pem""")
    certificate(-1)
    with kept(BOX, SETTINGS, unit="regentd"):
        edit(BOX, "http://.*", "https://192.168.7.1:8443")
        edit(BOX, r"\Z", "ca-file = /etc/regent/house.pem\n", "regent")
        edit(SETTINGS, "^REGENT_PUBLIC_URL=.*", "REGENT_PUBLIC_URL=https://192.168.7.1:8443")
        edit(SETTINGS, "^REGENT_LISTEN=.*", 'REGENT_LISTEN="*:8443"')
        edit(SETTINGS, r"\Z", "REGENT_TLS_CERTIFICATE=/etc/regent/fullchain.pem\nREGENT_TLS_KEY=/etc/regent/privkey.pem\n", "regentd")
        running()
        told(box_doctor(), r"its certificate has expired\s+hint: the service's certificate must be renewed")
        found = told(doctor(), r"certificate: \S+ has expired at .*\s+fix: renew it, then run (systemctl reload regentd)")
        certificate(30)
        shell(found.group(1))
        is_well()
    restart("regent")
    return line_of(told(found.string, "has expired at"))


@mistake(29, "a private certificate authority")
def private_authority():
    with kept(BOX, SETTINGS, unit="regentd"):
        edit(BOX, "http://.*", "https://192.168.7.1:8443", "regent")
        edit(SETTINGS, "^REGENT_PUBLIC_URL=.*", "REGENT_PUBLIC_URL=https://192.168.7.1:8443")
        edit(SETTINGS, "^REGENT_LISTEN=.*", 'REGENT_LISTEN="*:8443"')
        edit(SETTINGS, r"\Z", "REGENT_TLS_CERTIFICATE=/etc/regent/fullchain.pem\nREGENT_TLS_KEY=/etc/regent/privkey.pem\n", "regentd")
        running()
        found = told(box_doctor(), r"its certificate is from an unknown authority\s+hint: .*for the whole machine copy it to (/usr/\S+)/NAME.crt and run (update-ca-certificates)")
        # The daemon's user cannot read this file, because only root can.
        edit(BOX, r"\Z", "ca-file = /root/tls/ca.pem\n", "regent")
        folder = told(box_doctor(), r"this user cannot read the file with the certificate authorities.* to a folder that this user can read, such as (/etc/regent)").group(1)
        shell(f"cp /root/tls/ca.pem {folder}/moved.pem && chmod 644 {folder}/moved.pem")
        edit(BOX, "^ca-file.*", f"ca-file = {folder}/moved.pem", "regent")
        is_well()
        edit(BOX, "^ca-file.*\n", "", "regent")
        shell(f"cp /root/tls/ca.pem {found.group(1)}/house.crt && {found.group(2)}")
        restart("regent")
        is_well()
    restart("regent")
    return line_of(told(found.string, "hint: .*for the whole machine"))
