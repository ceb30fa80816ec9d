"""Our own box as an OAuth client: `regent oauth` at Regent over TLS with a test CA, and at Debian's glewlwyd."""

import json
import pathlib
import subprocess
import tempfile

import verifiers
from glewlwyd import Glewlwyd
from service import PATIENCE


class Box:
    """`regent` with its own state folder."""

    def __init__(self, programs, home):
        self.program = pathlib.Path(programs, "regent")
        self.state = pathlib.Path(home, "state")
        self.environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "REGENT_STATE": str(self.state),
                            "XDG_RUNTIME_DIR": str(home)}

    def run(self, *words):
        return subprocess.run(
            [self.program, "oauth", *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)

    def do(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def pair(self, name, answer):
        """Shows a code and calls `answer` with its event; returns the exit code and the events."""
        process = subprocess.Popen(
            [self.program, "oauth", "pair", name, "--json"], env=self.environment, stdout=subprocess.PIPE, text=True)
        try:
            events = [json.loads(process.stdout.readline())]
            assert events[0]["event"] == "code", events
            answer(events[0])
            rest, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        return process.returncode, events + [json.loads(line) for line in rest.splitlines()]

    def kept(self, name):
        return json.loads((self.state / "oauth" / name / "tokens").read_text())

    def age(self, name, seconds):
        """Changes the stored tokens as if they had been received that much earlier."""
        kept = self.kept(name)
        kept["received"].update(wall=kept["received"]["wall"] - seconds * 1000, boot=0, run="an earlier one")
        (self.state / "oauth" / name / "tokens").write_text(json.dumps(kept))


def with_box(issuer, story, *more):
    with tempfile.TemporaryDirectory(prefix="regent-box-") as home:
        box = Box(issuer.programs, home)
        client, secret = issuer.client("regent", "--secret" if "--client-secret-file" in more else "--public")
        more = list(more)
        if secret:
            path = pathlib.Path(home, "client-secret")
            path.touch(0o600)
            path.write_text(secret + "\n")
            more[more.index("--client-secret-file") + 1] = str(path)
        add = ["add", "tv", "--issuer", issuer.issuer, "--client-id", client]
        refused = box.run(*add)
        assert refused.returncode == 6 and "no safe connection" in refused.stderr, refused
        box.do(*add, "--ca-file", issuer.authority.ca, *more)
        story(box, client)


def pairs(issuer, *more):
    def story(box, client):
        status, events = box.pair("tv", lambda code: issuer.answer(code["code"], "approve"))
        assert status == 0 and events[-1]["event"] == "authenticated", events
        token = box.do("token", "tv").strip()
        tokens = box.kept("tv")["tokens"]
        assert tokens["access_token"] == token
        assert tokens["token_type"] == ("Bearer" if "--no-dpop" in more else "DPoP"), tokens
        verifiers.check(issuer, client, token, tokens.get("id_token"))
        box.age("tv", 3570)
        fresh = box.do("token", "tv").strip()
        assert fresh != token
        verifiers.check(issuer, client, fresh, None)
        assert json.loads(box.do("remove", "tv", "--json"))["revoked"] is True
        assert box.run("token", "tv").returncode == 1
    with_box(issuer, story, *more)


def bearer_pairs(issuer):
    pairs(issuer, "--no-dpop", "--client-secret-file", "FILE")


def is_denied(issuer):
    def story(box, _):
        status, events = box.pair("tv", lambda code: issuer.answer(code["code"], "deny"))
        assert status == 4 and events[-1]["event"] == "denied", events
    with_box(issuer, story)


STORIES = {"regent pairs": pairs, "regent with a secret and no DPoP pairs": bearer_pairs, "regent is denied": is_denied}


def pairs_at_glewlwyd(programs):
    """Another OAuth server: it is discovered, paired with, used with a DPoP proof, and removed."""
    server = Glewlwyd()
    try:
        with tempfile.TemporaryDirectory(prefix="regent-box-") as home:
            box = Box(programs, home)
            added = json.loads(box.do(
                "add", "music", "--issuer", server.issuer, "--client-id", server.client, "--scope", "openid", "--ca-file",
                server.authority.ca, "--json"))
            assert added["dpop"] is True, added
            status, events = box.pair("music", lambda code: server.approve(code["code"]))
            assert status == 0 and events[-1]["event"] == "authenticated", events
            token = box.do("token", "music").strip()
            assert server.user_info(token, box.do(
                "token", "music", "--format", "header", "--url", server.issuer + "/userinfo"))["sub"], "no viewer"
            box.age("music", 3570)
            assert box.do("token", "music").strip() != token
            # glewlwyd accepts revocations only from clients with a secret; the box forgets the tokens all the same.
            assert json.loads(box.do("remove", "music", "--json"))["revoked"] is False
            assert box.run("token", "music").returncode == 1
    except BaseException:
        print(server.log.read_text()[-4000:])
        raise
    finally:
        server.stop()
