"""The step of packages.py with two machines on one wire, a service that announces itself and a false one."""

import json
import pathlib
import time

from packages_stage import NAMES, PUBLIC_URL, files, install, running, stage
from packages_typing import typed

FALSE_NAME = "Regent \u202e on \x1b[31mden"


def a_box_finds_the_service_in_the_network():
    """This machine announces its service with Avahi and runs a false service beside it; a box in its own network
    namespace searches. The false service must learn nothing, and control characters in its name are shown escaped."""
    stage.machine.run("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "-P", *reversed(NAMES))
    install(*files(names=("regentctl", "regentd", "regent")))
    running()
    stage.machine.run("sh", "-ec", """
        ip netns add box
        ip link add wire type veth peer name wire netns box
        ip address add 192.168.7.1/24 dev wire
        ip link set wire up
        ip -n box address add 192.168.7.2/24 dev wire
        ip -n box link set wire up
        ip -n box link set lo up""")

    def box(*words, fails=False):
        return stage.machine.run("ip", "netns", "exec", "box", *words, fails=fails)

    def setup(*words):
        return stage.machine.run("regentctl", "setup", "--requestor", "acme", "--provider", "cable", *words, text="")

    stage.machine.run("regentctl", "setup", "--announce", "on", fails=True)
    setup("--public-url", PUBLIC_URL)
    code = json.loads(stage.machine.run("regentctl", "--json", "requestor", "invite", "acme"))["code"]
    begun = time.monotonic()
    none = box("regent", "setup", "--code", code, fails=2)
    assert "no service was found on this network" in none and "--service" in none, none
    print(f"   {time.monotonic() - begun:.1f} s until the search ends without a service")

    assert "announced" in setup("--announce", "on")
    found = json.loads(stage.machine.run("regentctl", "--json", "doctor", fails=None))
    assert next(one for one in found if one["check"] == "announcement")["status"] == "good", found

    def announced():
        """The names that another program finds."""
        said = stage.machine.run("avahi-browse", "-rpt", "_regent._tcp", fails=None)
        return {line.split(";")[3] for line in said.splitlines() if line.startswith("=")}

    def search():
        """The output of a setup whose code is wrong in its last letter, which the service refuses."""
        other = "2" if code[-1] != "2" else "3"
        return box("sh", "-c", f"regent setup --config /root/looking.conf --code {code[:-1]}{other} 2>&1 || true")

    stage.machine.until("the announcement", announced)
    said = search()
    assert f"found: {PUBLIC_URL}  Regent on " in said and "this code is wrong, used or expired" in said, said
    stage.machine.run("systemctl", "stop", "regentd")
    stage.machine.until("silence while it is stopped", lambda: not announced())
    stage.machine.run("systemctl", "start", "regentd")
    stage.machine.until("the announcement again", announced)

    # An attacker in the network announces a service whose name would change the screen's colours and reverse its text.
    stage.machine.run(
        "systemd-run", "--unit=false", "avahi-publish-service", FALSE_NAME, "_regent._tcp", "8788", "txtvers=1", "tls=0",
        "host=192.168.7.1", "path=/")
    stage.machine.run("systemd-run", "--unit=relay", "python3", "-c", RELAY, "/root/heard")
    heard = f"/proc/{stage.machine.leader}/root/root/heard"
    try:
        stage.machine.until("both", lambda: len(announced()) == 2)
        several = search()
        assert f"{PUBLIC_URL}  Regent on " in several and "http://192.168.7.1:8788  Regent " in several, several
        assert "the number of a service" in several and "--service" in several, several
        assert "\x1b" not in several and "\u202e" not in several and r"\e[31m" in several and r"\u{202e}" in several, several
        def person(keyboard):
            keyboard.type("", "ip netns exec box regent setup")
            keyboard.shows("enrolment code")
            keyboard.type("", code)
            shown = keyboard.shows(r"(\d)  http://192.168.7.1:8788  Regent ")
            keyboard.shows("the number of a service")
            keyboard.type(shown.group(1))
            keyboard.shows("this box is enrolled for acme")
            keyboard.prompt()

        typed("a box that finds two", person)
    finally:
        stage.machine.run("systemctl", "stop", "false", "relay")
    # The box was led through the attacker's relay, which got neither the code nor a secret; the box does not keep its
    # address.
    settings = stage.machine.run("cat", "/etc/regent/agent.conf")
    assert f"service = {PUBLIC_URL}\n" in settings and "8788" not in settings, settings
    heard = pathlib.Path(heard).read_bytes().decode(errors="replace")
    secret = stage.machine.run("cat", "/etc/regent/secret").strip()
    assert code[:4] in heard and secret not in heard and not any(part in heard for part in code.split("-")[1:]), heard
    assert "not announced" in setup("--announce", "off")
    stage.machine.until("silence", lambda: not announced())
    assert "no service was found on this network" in search()


# Forwards the request and records it: a machine in the middle that announces itself.
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
