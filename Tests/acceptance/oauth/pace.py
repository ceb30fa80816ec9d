"""Ten thousand clients that wait for their viewers, in real time: a step of `make long`.

    pace.py PROGRAMS [--clients 10000] [--minutes 10]

Each polls every four to six seconds, and one client every two. The service must never tell a client of the first kind
to slow down, and always the other one.
"""

import argparse
import asyncio
import json
import pathlib
import random
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from regentd import Regentd, control_json
from service import PATIENCE, ROOT

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
CONNECTIONS = 64


class Line:
    """A connection that is kept open, with one request at a time."""

    def __init__(self, port):
        self.port, self.lock, self.reader = port, asyncio.Lock(), None

    async def ask(self, path, form):
        body = form.encode()
        async with self.lock:
            if self.reader is None:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
            self.writer.write(
                b"POST " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + str(len(body)).encode()
                + b"\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n" + body)
            sent = time.monotonic()
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                          if line.startswith(b"content-length:"))
            return sent, json.loads(await self.reader.readexactly(length))


async def asks(line, client, device, pause, end, answers):
    form = f"client_id={client}&grant_type={GRANT}&device_code={device}"
    await asyncio.sleep(random.uniform(0, 5))
    last = None
    while time.monotonic() < end:
        sent, answer = await line.ask("/oauth/token", form)
        # Measured from send to send, because this program itself may be late.
        answers.append((answer["error"], None if last is None else sent - last))
        last = sent
        await asyncio.sleep(max(0, sent + pause() - time.monotonic()))


async def run(port, client, number, seconds):
    lines = [Line(port) for _ in range(CONNECTIONS)]

    async def code(place):
        _, answer = await lines[place % CONNECTIONS].ask("/oauth/device_authorization", f"client_id={client}")
        return answer["device_code"]

    codes = await asyncio.gather(*(code(place) for place in range(number + 1)))
    end = time.monotonic() + seconds
    patient, hasty = [], []
    await asyncio.gather(
        asks(Line(port), client, codes[number], lambda: 2, end, hasty),
        *(asks(lines[place % CONNECTIONS], client, codes[place], lambda: random.uniform(4.02, 6), end, patient)
          for place in range(number)))
    return patient, hasty


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("programs")
    arguments.add_argument("--clients", type=int, default=10_000)
    arguments.add_argument("--minutes", type=float, default=10)
    given = arguments.parse_args()
    programs = pathlib.Path(given.programs).resolve()
    with tempfile.TemporaryDirectory(prefix="regent-pace-") as home:
        environment = {"HOME": home, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        regentd = Regentd(programs, home, "--web", str(ROOT / "web"), environment=environment)
        try:
            control_json(programs, environment, "requestor", "add", "acme")
            control_json(programs, environment, "key", "issue", "acme")
            client = control_json(
                programs, environment, "client", "add", "acme", "--name", "Kodi", "--public", "--algorithm", "ES256")["id"]
            port = int(regentd.url.rsplit(":", 1)[1])
            patient, hasty = asyncio.run(run(port, client, given.clients, given.minutes * 60))
        finally:
            regentd.stop()
    words = {}
    for word, _ in patient:
        words[word] = words.get(word, 0) + 1
    shortest = min((pause for _, pause in patient if pause is not None), default=0)
    print(f"{len(patient)} polls of {given.clients} clients: {words}, the shortest pause {shortest:.2f} s")
    print(f"one client every two seconds: {len(hasty)} polls, {sum(word == 'slow_down' for word, _ in hasty)} told to slow down")
    good = set(words) == {"authorization_pending"} and all(word == "slow_down" for word, _ in hasty[1:])
    return 0 if good and len(hasty) > given.minutes * 20 else 1


if __name__ == "__main__":
    sys.exit(main())
