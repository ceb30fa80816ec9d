"""Generates a Python client from web/openapi.json with openapi-python-client, and pairs a box with it.

The client knows only the description; this script adds the signature of each call, as a box makes it.
"""

import importlib
import os
import subprocess
import sys
import tempfile

from service import REQUESTOR, RunningService

DEVICE = "generated"


def generate(folder):
    """Generates the package `regent_client` from the description."""
    done = subprocess.run(
        [f"{os.path.dirname(sys.executable)}/openapi-python-client", "generate", "--path", "web/openapi.json",
         "--output-path", f"{folder}/regent_client", "--meta", "none"],
        capture_output=True, text=True, timeout=300)
    left_out = [line for line in done.stdout.splitlines() if line.startswith("WARNING")]
    if done.returncode != 0 or left_out:
        raise SystemExit(f"the generator does not understand the description:\n{done.stdout}{done.stderr}")
    sys.path.insert(0, folder)


def call(client, area, name, *place, **parameters):
    """Makes a call with the generated client; returns the status and the document in its generated type."""
    module = importlib.import_module(f"regent_client.api.{area}.{name}")
    reply = module.sync_detailed(*place, client=client, **parameters)
    print(f"{name}: {int(reply.status_code)} {type(reply.parsed).__name__}")
    return int(reply.status_code), reply.parsed


def pair(running, service):
    from regent_client import Client, models

    def sign(request):
        request.headers["Authorization"] = service.keys.header(request.method, request.url.path)
        request.headers["Accept"] = "application/json"

    client = Client(base_url=service.url, httpx_args={"event_hooks": {"request": [sign]}})
    status, code = call(client, "codes", "create_code", REQUESTOR, body=models.CreateCodeBody(device_id=DEVICE))
    assert status == 201 and isinstance(code, models.RegistrationCode), (status, code)
    assert call(client, "authentication", "authentication", device_id=DEVICE, requestor=REQUESTOR)[0] == 404
    running.control("entitle", "add", "local", "--allow", "news")
    running.control("code", "approve", code.code, "--provider", "local", "--account", "demo")
    about = {"device_id": DEVICE, "requestor": REQUESTOR}
    status, signed_in = call(client, "authentication", "authentication", **about)
    assert status == 200 and signed_in.mvpd == "local", (status, signed_in)
    status, decided = call(client, "authorization", "preauthorize", resource="news,sports", **about)
    assert status == 200 and len(decided.resources) == 2, (status, decided)
    assert call(client, "authorization", "authorize", resource="news", **about)[0] == 200
    status, token = call(client, "authorization", "media_token", resource="news", **about)
    assert status == 200 and token.serialized_token, (status, token)
    status, problem = call(client, "authorization", "preauthorize", resource=",".join("abcdef"), **about)
    assert status == 403 and "at most 5" in problem.to_dict()["details"], (status, problem)
    assert call(client, "authentication", "logout", device_id=DEVICE)[0] == 204
    # A client must accept members that a later version adds.
    later = models.RegistrationCode.from_dict(code.to_dict() | {"later": 1})
    assert later.code == code.code


def main(programs):
    with tempfile.TemporaryDirectory(prefix="regent-generated-") as folder:
        generate(folder)
        running = RunningService(programs)
        with running as service:
            pair(running, service)


if __name__ == "__main__":
    main(sys.argv[1])
