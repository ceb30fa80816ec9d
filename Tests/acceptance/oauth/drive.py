#!/usr/bin/env python3
"""Every client pairs, gets authorization_pending, is denied, comes too late, and refreshes; others check the tokens.

    drive.py PROGRAMS [--only NAME,NAME]
"""

import argparse
import concurrent.futures
import os
import sys
import time
import traceback

import apache
import box
import clients
import programs
import verifiers
from issuer import Issuer
from regentd import NODES
from service import until


def pairs(issuer, client):
    """Polls too early and must wait; after the approval it gets tokens, and later refreshes them."""
    code = client.begin()
    said = client.ask()
    assert said.get("error") == "authorization_pending", said
    page = issuer.answer(code, "approve")
    assert client.__class__.__name__.lower()[:4] in page.lower() or "curl" in page, "the page does not name the client"
    clients.pause()
    tokens = client.ask()
    assert "access_token" in tokens, tokens
    verifiers.check(issuer, client.id, tokens["access_token"], tokens.get("id_token"))
    fresh = client.refresh(tokens)
    assert "access_token" in fresh and fresh["access_token"] != tokens["access_token"], fresh
    verifiers.check(issuer, client.id, fresh["access_token"], fresh.get("id_token"))


def is_denied(issuer, client):
    issuer.answer(client.begin(), "deny")
    said = client.ask()
    assert said.get("error") == "access_denied", said


def is_late(issuer, client):
    issuer.withdraw(client.begin())
    said = client.ask()
    assert said.get("error") == "expired_token", said


def keys(issuer):
    return issuer.document(issuer.issuer + "/keys")["keys"]


def documents(issuer):
    """The metadata documents, at both addresses where clients look for them."""
    found = issuer.document(issuer.issuer + "/.well-known/openid-configuration")
    assert found["issuer"] == issuer.issuer, found
    host, path = issuer.issuer.split("/", 3)[2:]
    inserted = issuer.document(f"https://{host}/.well-known/oauth-authorization-server/{path}")
    assert inserted == found, inserted
    assert issuer.document(found["jwks_uri"])["keys"], "no keys"
    media = issuer.document(issuer.url + "/oauth/jwks.json")["keys"]
    ids = {key["kid"] for key in issuer.document(found["jwks_uri"])["keys"]}
    assert not ids & {key["kid"] for key in media}, "a key stands in both sets"


STORIES = {f"{client.__name__} {story.__name__}": (client, story)
           for client in clients.LIBRARIES for story in (pairs, is_denied, is_late)}

OTHERS = programs.STORIES | apache.STORIES | box.STORIES


def tell(issuer, name):
    begun = time.monotonic()
    try:
        if name in STORIES:
            client, story = STORIES[name]
            story(issuer, client(issuer))
        else:
            OTHERS[name](issuer)
    except BaseException:
        return name, time.monotonic() - begun, traceback.format_exc()
    return name, time.monotonic() - begun, None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("programs")
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    wanted = [word for word in given.only.split(",") if word]
    names = [name for name in [*STORIES, *OTHERS] if not wanted or any(word in name for word in wanted)]
    failed = 0
    for prefix in ("", "/tv"):
        issuer = Issuer(given.programs, prefix)
        try:
            # A machine-wide CA setting takes precedence over that of a session, so both get the test CA.
            os.environ["REQUESTS_CA_BUNDLE"] = os.environ["CURL_CA_BUNDLE"] = issuer.authority.ca
            # The service makes its first key for the first client and publishes none before.
            issuer.client("first", "--public")
            if NODES > 1:
                # One node was told; each next call reaches another one, which knows it within milliseconds.
                until("every node to publish the key", lambda: all(keys(issuer) for _ in range(NODES)))
            documents(issuer)
            # In parallel, because the stories wait for most of their time.
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                for name, seconds, trouble in pool.map(lambda name: tell(issuer, name), names):
                    print(f"{'ok  ' if trouble is None else 'FAIL'} {prefix or 'bare'}: {name}, {seconds:.1f} s")
                    if trouble:
                        failed += 1
                        print(trouble)
            if failed:
                print(issuer.regentd.log()[-4000:])
        finally:
            issuer.stop()
    if not wanted or "glewlwyd" in wanted:
        box.pairs_at_glewlwyd(given.programs)
        print("ok   glewlwyd: regent pairs")
        names.append("glewlwyd")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
