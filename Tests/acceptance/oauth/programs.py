"""Third-party programs as Debian packages them: oidc-agent, and SSSD's oidc_child."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

from issuer import REQUESTOR
from service import PATIENCE, until

CODE = re.compile("[A-Z]{4}-[A-Z]{4}")
SCOPE = "openid profile offline_access"


# --- SSSD ------------------------------------------------------------------------------------------------------------

class Child:
    """oidc_child: one process gets the code, another one waits for the tokens."""

    def __init__(self, issuer, kind):
        self.issuer = issuer
        self.id, secret = issuer.client("SSSD", kind)
        self.words = ["/usr/libexec/sssd/oidc_child", f"--issuer-url={issuer.issuer}", f"--client-id={self.id}",
                      # It asks for every published scope.
                      f"--ca-db={issuer.authority.ca}", "--logger=stderr", "--debug-level=9", f"--scope={SCOPE} entitlements unknown"]
        if secret:
            self.words.append(f"--client-secret={secret}")

    def begin(self):
        done = subprocess.run(
            [*self.words, "--get-device-code"], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        self.given, shown = done.stdout.split("\n", 1)
        return json.loads(shown.split(" ", 1)[1])["user_code"]

    def wait(self):
        process = subprocess.Popen(
            [*self.words, "--get-access-token"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        process.stdin.write(self.given + "\n")
        process.stdin.close()
        process.stdin = None
        return process

    def end(self, process):
        try:
            out, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        return process.returncode, out, errors


def child_pairs(issuer, kind="--public"):
    child = Child(issuer, kind)
    code = child.begin()
    # The second process polls at once, after the first one did: it must get "wait" or "slow down", and never an end.
    process = child.wait()
    issuer.answer(code, "approve")
    status, out, errors = child.end(process)
    assert status == 0, errors
    # It prints the id of the signed-in viewer.
    assert re.search("[0-9a-f]{64}", out), out


def confidential_child_pairs(issuer):
    child_pairs(issuer, "--secret")


def child_is_denied(issuer):
    child = Child(issuer, "--public")
    code = child.begin()
    process = child.wait()
    issuer.answer(code, "deny")
    status, out, errors = child.end(process)
    assert status != 0 and "access_denied" in out + errors, (status, out, errors)


def child_is_late(issuer):
    child = Child(issuer, "--public")
    code = child.begin()
    process = child.wait()
    issuer.withdraw(code)
    status, out, errors = child.end(process)
    assert status != 0 and "expired_token" in out + errors, (status, out, errors)


# --- oidc-agent ------------------------------------------------------------------------------------------------------

class Agent:
    """oidc-agent with its own folder; oidc-gen makes its accounts."""

    def __init__(self, issuer):
        self.issuer = issuer
        self.folder = tempfile.TemporaryDirectory(prefix="regent-oidc-")
        self.environment = {
            "HOME": self.folder.name, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "OIDC_ENCRYPTION_PW": "a long word"}

    def __enter__(self):
        done = subprocess.run(
            ["oidc-agent", "--json"], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        found = json.loads(done.stdout)
        self.process = int(found["dpid"])
        self.environment |= {"OIDC_SOCK": found["socket"], "OIDCD_PID": str(self.process)}
        # It prints its address before it listens.
        until("oidc-agent listens", lambda: subprocess.run(
            ["oidc-add", "--loaded"], env=self.environment, capture_output=True, timeout=PATIENCE).returncode == 0)
        return self

    def __exit__(self, *_):
        os.kill(self.process, 15)
        self.folder.cleanup()

    def generate(self, name, *words):
        """Runs oidc-gen until it shows the code; `end` waits for its end."""
        self.output = pathlib.Path(self.folder.name, f"{name}.out")
        with open(self.output, "w") as output:
            self.generator = subprocess.Popen(
                ["oidc-gen", name, f"--iss={self.issuer.issuer}", "--flow=device", f"--scope={SCOPE}",
                 f"--cert-path={self.issuer.authority.ca}", "--pw-env", "--no-url-call", "--prompt=none",
                 "--confirm-yes", *words],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        shown = until("oidc-gen shows a code", self.shown)
        assert shown != "ended", self.output.read_text()
        return shown

    def shown(self):
        found = CODE.search(self.output.read_text())
        return found.group(0) if found else "ended" if self.generator.poll() is not None else None

    def end(self):
        try:
            return self.generator.wait(timeout=PATIENCE), self.output.read_text()
        finally:
            self.generator.kill()

    def token(self, name, seconds):
        done = subprocess.run(
            ["oidc-token", f"--time={seconds}", name], env=self.environment, capture_output=True, text=True,
            timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def agent_gets_tokens(agent, name, words):
    code = agent.generate(name, *words)
    agent.issuer.answer(code, "approve")
    status, said = agent.end()
    assert status == 0 and "Everything setup correctly" in said, said
    first = agent.token(name, 60)
    # More time than any token is valid, so that it refreshes.
    assert agent.token(name, 7200) != first


def agent_pairs(issuer):
    client, _ = issuer.client("oidc-agent", "--public")
    with Agent(issuer) as agent:
        agent_gets_tokens(
            agent, "public", [f"--client-id={client}", "--client-secret=", "--redirect-uri=http://localhost:4242"])


def agent_registers(issuer):
    issuer.control("requestor", "set", REQUESTOR, "--registration", "open")
    with Agent(issuer) as agent:
        agent_gets_tokens(agent, "registered", [])


def agent_ends(issuer, word, error):
    client, _ = issuer.client("oidc-agent", "--public")
    with Agent(issuer) as agent:
        code = agent.generate(
            "ends", f"--client-id={client}", "--client-secret=", "--redirect-uri=http://localhost:4242")
        issuer.withdraw(code) if word == "withdraw" else issuer.answer(code, word)
        status, said = agent.end()
        assert "Everything setup correctly" not in said, said
        assert error in said, said


def agent_is_denied(issuer):
    agent_ends(issuer, "deny", "access_denied")


def agent_is_late(issuer):
    agent_ends(issuer, "withdraw", "expired")


STORIES = {
    "oidc_child pairs": child_pairs, "oidc_child with a secret pairs": confidential_child_pairs,
    "oidc_child is denied": child_is_denied, "oidc_child is late": child_is_late,
    "oidc-agent pairs": agent_pairs, "oidc-agent registers and pairs": agent_registers,
    "oidc-agent is denied": agent_is_denied, "oidc-agent is late": agent_is_late,
}
