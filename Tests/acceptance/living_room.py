#!/usr/bin/env python3
"""A box at home whose router drops connections and whose address changes: how soon it knows that it is signed in.

    living_room.py PROGRAMS [--only ROW,ROW]

Service, router and box are three network namespaces, so this needs root. Parts of the rows run at the same time. A row fails when the box takes longer than its
bar: 3 s if the box's kernel notices the change, 8 s if only missing responses show it.
"""

import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE / "oauth")]
import living_changes
import living_network
import living_proxy
from living_faults import DISKS, FAULTS, Faults
from living_world import BOX, DEAD, HOME, OTHER, SERVICE, BoxAtHome, Network
from quick_viewer import BUSY, House, idle

# The seconds after a change that the box's kernel notices, after one that only missing responses show, and without one.
KERNEL, SILENCE, WORKING = 3.0, 8.0, 1.0


def quiet(box):
    return box.signed_in()


def forgotten(box):
    return box.signed_in(box.network.forget)


def readdressed(box):
    return box.signed_in(lambda: box.network.readdress(OTHER if box.network.address == BOX else BOX))


def play_forgotten(box):
    box.signed_in()
    box.play()
    time.sleep(3)
    if not box.network.forget():
        print("  no open connection to drop")
    return box.play()


def play_readdressed(box):
    box.signed_in()
    box.play()
    box.network.readdress(OTHER if box.network.address == BOX else BOX)
    return box.play()


def first_dead(box):
    box.uses_names([DEAD[0], SERVICE])
    return box.code()


def two_dead(box):
    box.uses_names([*DEAD, SERVICE])
    return box.code()


def slow_names(box):
    box.uses_names([SERVICE], DEAD[0])
    return box.code()


def address_came(box):
    network = box.network
    # Only IPv4: the kernel would not make the IPv6 link-local address again, which later rows need.
    network.box.run("ip", "-4", "address", "flush", "dev", "home")
    return box.back(40, lambda: network.readdress(network.address, anew=True))


def route_came(box):
    network = box.network
    network.box.run("ip", "route", "del", "default")
    return box.back(40, lambda: network.box.run("ip", "route", "replace", "default", "via", HOME))


def name_server_came(box):
    box.uses_names([SERVICE])
    box.names_file(DEAD[0])
    return box.back(25, lambda: box.names_file(SERVICE))


ROWS = {
    "approve": (quiet, 1.0),
    "approve after the router forgot": (forgotten, SILENCE),
    "approve after the address changed": (readdressed, KERNEL),
    "play after the router forgot": (play_forgotten, SILENCE),
    "play after the address changed": (play_readdressed, KERNEL),
    "code with the first of two addresses dead": (first_dead, WORKING),
    "code with two of three addresses dead": (two_dead, WORKING),
    "code with the first of two name servers dead": (slow_names, 6.0),
    "code when an address comes after 40 s": (address_came, WORKING),
    "code when a route comes after 40 s": (route_came, WORKING),
    # The running look-up asks the old server to its end: glibc waits twice 5 s.
    "code when resolv.conf names another server": (name_server_came, 11.0),
}
for module in (living_changes, living_proxy, living_network):
    for name, row in module.ROWS.items():
        row, bar = row if isinstance(row, tuple) else (row, WORKING)
        ROWS[name] = (lambda box, row=row: row(box, SERVICE), bar)
# Runs after all others, because it needs all processors.
CROWD = "200 boxes after an absence of 20 s"
# The longest row takes a minute. After this time a row fails, and the traceback shows what it waited for.
LIMIT = 120
# Each part runs in its own process with its own networks. Its value: whether it uses https, and its rows.
LATER = [*living_changes.ROWS, *living_proxy.ROWS, *living_network.ROWS]
PARTS = {
    "faults": (False, [*FAULTS, *DISKS]),
    "http": (False, [name for name in ROWS if name not in LATER]),
    "https": (True, [name for name in ROWS if name not in LATER]),
    "http later": (False, [name for name in LATER if name != CROWD]),
    "https later": (True, [name for name in LATER if name != CROWD]),
    "crowd": (False, [CROWD]),
}


class Scene(House):
    def __init__(self, programs, https):
        super().__init__(programs, https=https, address=SERVICE)
        self.service.control("entitle", "add", "local", "--allow", "*")
        self.authority = f"{self.service.folder.name}/pem" if https else None


def late(*_):
    raise TimeoutError(f"the row has not ended after {LIMIT} s")


def measured(name, perform):
    """Runs a row, whose result is its seconds or its problems, with a time limit; returns None if it failed."""
    signal.alarm(LIMIT)
    try:
        return perform()
    except (Exception, SystemExit) as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        print(f"{name}: {problem!r} RED; " + " > ".join(f"{frame.name}:{frame.lineno}" for frame in frames), flush=True)
        return None
    finally:
        signal.alarm(0)


def timed(name, scene, network):
    """Whether a row with a time limit passes."""
    row, bar = ROWS[name]
    title = f"{'https' if scene.authority else 'http'}: {name}"

    def perform():
        with contextlib.closing(BoxAtHome(scene, network)) as box:
            return row(box)

    took = measured(title, perform)
    if took is None:
        return False
    print(f"{title}: {took:.2f} s (bar {bar:.1f}){' RED' if took > bar else ''}", flush=True)
    return took <= bar


def named(name, faults):
    """Whether the box names a fault correctly."""
    problems = measured(name, lambda: faults.problems(name) if name in FAULTS else faults.disk_problems(name))
    if problems is None:
        return False
    print(f"{name}: {'; '.join(problems) or 'named correctly'}{' RED' if problems else ''}", flush=True)
    return not problems


def perform(part, programs, wanted):
    """Runs the rows of one part in this process's network namespace; returns the exit code."""
    https, rows = PARTS[part]
    signal.signal(signal.SIGALRM, late)
    with contextlib.closing(Network()) as network:
        if part == "faults":
            with contextlib.closing(Faults(programs, network, SERVICE)) as faults:
                green = [named(name, faults) for name in rows if name in wanted]
        else:
            scene = Scene(programs, https)
            try:
                green = [timed(name, scene, network) for name in rows if name in wanted]
            finally:
                scene.service.stop()
    return 0 if all(green) else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--only", type=lambda text: text.split(","), default=[*ROWS, *FAULTS, *DISKS], metavar="ROW,ROW")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if unknown := [name for name in given.only if name not in ROWS and name not in FAULTS and name not in DISKS]:
        parser.error(f"no row {unknown}")
    if os.geteuid() != 0:
        print("not run: network namespaces need root")
        return 0
    if given.part:
        return perform(given.part, given.programs, given.only)
    parts = [part for part, (_, rows) in PARTS.items() if any(name in given.only for name in rows)]

    def started(part):
        return subprocess.Popen(
            ["unshare", "-n", sys.executable, __file__, given.programs, "--only", ",".join(given.only), "--part", part])

    before = idle()
    codes = [process.wait() for process in [started(part) for part in parts if part != "crowd"]]
    codes += [started(part).wait() for part in parts if part == "crowd"]
    free, whole = (after - earlier for after, earlier in zip(idle(), before))
    print(f"processors idle for {100 * free // whole} %")
    if any(codes) and free < whole * BUSY:
        print("The machine was busy with other work, which delays every program; measure again when it is idle.")
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
