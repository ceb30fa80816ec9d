"""A box with the Kodi module in a separate process, with any Python: kodi_box.py MODULE FOLDER [--kill N] WORD…

    enrol CODE    redeems ADDRESS#CODE
    pair          signs in; each event is a line of JSON on standard output
    token NAME    prints a media token

With --kill N the process kills itself at the Nth step. Each call that changes a file or connects to the service has two
steps, before and after it. The last line is {"steps": N} with their number.
"""

import json
import os
import signal
import socket
import sys

module, folder, *rest = sys.argv[1:]
sys.path.insert(0, module)
from regent.service import Service
from regent.storage import Storage

limit, steps = 0, 0
if rest[0] == "--kill":
    limit, rest = int(rest[1]), rest[2:]


def counted(function):
    """Adds a step before the call and one after it."""
    def called(*arguments, **named):
        step()
        result = function(*arguments, **named)
        step()
        return result
    return called


def step():
    global steps
    steps += 1
    if steps == limit:
        os.kill(os.getpid(), signal.SIGKILL)


for name in ("open", "fsync", "replace", "remove"):
    setattr(os, name, counted(getattr(os, name)))
socket.create_connection = counted(socket.create_connection)

box = Service(Storage(folder), {"deviceName": "Kodi of the test"})
while rest:
    word = rest.pop(0)
    if word == "enrol":
        box.enrol(rest.pop(0))
    elif word == "pair":
        if not box.status()["signedIn"]:
            for event in box.pair():
                print(json.dumps(event), flush=True)
    elif word == "token":
        print(json.dumps({"token": box.media_token(rest.pop(0))}), flush=True)
print(json.dumps({"steps": steps, "device": box.caller().device}), flush=True)
