#!/usr/bin/env python3
"""Boxes at three nodes while the database and the nodes are killed: no box loses a sign-in or a code, or gets a wrong
refusal.

usage: boxes.py FOLDER_OF_PROGRAMS [--sample]

It runs the real `regent` behind haproxy, each request at the next node. Some boxes wait for their phone, some are
signed in and make calls, some are started meanwhile. The primary is killed and the standby promoted, then each node is
killed and started again. Every code that was shown must sign its box in, and every call must succeed.

With --sample haproxy is set up as in deploy/proxy/haproxy-nodes.cfg: each box stays at one node while that node is up.
"""

import http.client
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import types

from cluster import Cluster
from regent_box import Box
from rounds import PROVIDER, ask, provide
from service import Failure, until

OPTIONS = ["--device-rate", "1000", "--device-burst", "1000", "--newcomer-rate", "1000", "--permit-rate", "1000",
           "--live-codes", "10000", "--sign-ins-per-account", "10000"]
WAITING, SIGNED_IN, LATE = 4, 3, 2
TRIES = 10
QUESTIONS = (("authorize", "One"), ("status",), ("preauthorize", "One", "Two"), ("providers",))


class Story:
    def __init__(self, cluster, programs):
        self.cluster = cluster
        key = provide(cluster.nodes[0], PROVIDER)
        cluster.nodes[0].control("entitle", "add", PROVIDER, "--allow", "*")
        self.service = types.SimpleNamespace(
            programs=pathlib.Path(programs), url=f"http://127.0.0.1:{cluster.balancer.port}", key=key)
        self.boxes, self.asked, self.seen = [], 0, []
        self.lock, self.stop = threading.Lock(), threading.Event()

    def box(self):
        box = Box(self.service)
        with self.lock:
            self.boxes.append(box)
        return box

    def note(self, error=None):
        with self.lock:
            self.asked += 1
            if error:
                self.seen.append(str(error))

    def approve(self, code):
        self.cluster.nodes[0].control("code", "approve", code, "--provider", PROVIDER, "--account", "anna")

    def sign_in(self, box, code):
        self.approve(code)
        box.event("authenticated")
        box.ends(0)

    def ask_on(self, box):
        """Makes calls for a signed-in box until the story is over."""
        number = 0
        while not self.stop.is_set():
            number += 1
            try:
                box.ask(*QUESTIONS[number % len(QUESTIONS)])
                self.note()
            except Failure as error:
                self.note(error)

    def come(self, late):
        """Starts a box that has no code yet; it tries until it has one."""
        box = self.box()
        code = lambda: box.pair("--unattended")
        for _ in range(TRIES):
            try:
                late.append((box, code()))
                return self.note()
            except Failure as error:
                self.note(error)
            code = lambda: box.event("code")["code"]

    def meanwhile(self, fault):
        """Performs a fault while new boxes start."""
        late = []
        coming = [threading.Thread(target=self.come, args=(late,)) for _ in range(LATE)]
        for thread in coming:
            thread.start()
        fault()
        for thread in coming:
            thread.join()
        for node in self.cluster.nodes:
            until(f"{node.name} to be ready", lambda: self.is_ready(node))
        time.sleep(1)
        return late

    def is_ready(self, node):
        return ask(http.client.HTTPConnection("127.0.0.1", node.port, timeout=5), "GET", "/readyz")[0] == 200

    def play(self):
        waiting = [(box, box.pair("--unattended")) for box in (self.box() for _ in range(WAITING))]
        askers = []
        for _ in range(SIGNED_IN):
            box = self.box()
            self.sign_in(box, box.pair("--unattended"))
            askers.append(threading.Thread(target=self.ask_on, args=(box,)))
        for thread in askers:
            thread.start()
        try:
            time.sleep(1)
            waiting += self.meanwhile(self.cluster.fail_over)
            for node in self.cluster.nodes:
                def fault():
                    node.kill()
                    time.sleep(1)
                    node.start()
                waiting += self.meanwhile(fault)
        finally:
            self.stop.set()
            for thread in askers:
                thread.join()
        for box, code in waiting:
            self.sign_in(box, code)
        return len(waiting)


def main():
    words = [word for word in sys.argv[1:] if word != "--sample"]
    if len(words) != 1:
        raise SystemExit(__doc__.splitlines()[2])
    programs = os.path.abspath(words[0])
    home = tempfile.mkdtemp(prefix="regent-boxes-")
    cluster = story = None
    try:
        cluster = Cluster(programs, home, options=OPTIONS, is_sample="--sample" in sys.argv)
        story = Story(cluster, programs)
        signed_in = story.play()
        if story.seen:
            found = "\n".join(story.seen[:5])
            raise SystemExit(f"boxes: {len(story.seen)} of {story.asked} calls failed:\n{found}")
        # The boxes that waited, and those that started during each of the four faults.
        if signed_in != WAITING + 4 * LATE:
            raise SystemExit(f"boxes: {signed_in} had a code at the end")
        print(f"ok {story.asked} calls during a fail-over and three killed nodes, {signed_in} boxes signed in afterwards")
    finally:
        for box in story.boxes if story else ():
            box.close()
        if cluster:
            cluster.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
