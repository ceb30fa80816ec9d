#!/usr/bin/env python3
"""The costs and times of several nodes, as a table with the bar of each figure.

usage: figures.py FOLDER_OF_PROGRAMS [--only WORD] [--scale F]

The programs are those of a release build. Processor times are those of the nodes and of the database's backends, as the
kernel counts them in nanoseconds. Elapsed times are right only on a machine without other load. --scale 0.1 does a
tenth of everything, to try the script. New codes need wrk (deploy/bootstrap --bench). Exit code 1 when a bar is missed.
"""

import argparse
import collections
import http.client
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from bench import CODE, OPTIONS, POLL, Bench, Caller, Wave, anonymous, approval, fresh, processor
from cluster import Cluster
from rounds import PROVIDER, ask, provide
from service import authorization, until


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


class Table:
    def __init__(self, only, scale):
        self.only, self.scale, self.missed = only, scale, []

    def many(self, count, least=10):
        return max(least, int(count * self.scale))

    def row(self, name, value, unit, bar=None, note=""):
        good = bar is None or value <= bar
        if not good:
            self.missed.append(name)
        print(f"{name:52} {value:8.3f} {unit:4} {'' if bar is None else f'<= {bar:<5}'} {'' if good else 'MISSED'} {note}", flush=True)


def wake_ups(table, programs, home):
    """The time from an approval at one node to the response of a long poll at another."""
    for wakeups, bar in (("bell", 50), ("poll", 100)):
        with Bench(programs, fresh(home, wakeups), 2, ("--wakeups", wakeups)) as bench:
            a, b = bench.nodes
            caller, operator, times = Caller(b.port), Caller(a.admin), []
            for number in range(table.many(300)):
                device = f"wake-{number}"
                code = bench.create(caller, device)
                caller.send(bench.request("GET", POLL, device, "Prefer: wait=30\r\n"))
                time.sleep(0.003)
                begun = time.perf_counter()
                operator.send(approval(code))
                status, _ = caller.receive()
                times.append((time.perf_counter() - begun) * 1000)
                operator.receive()
                if status != 200:
                    raise SystemExit(f"figures: a held call gave {status}")
            table.row(f"approve at A to the waiter at B, {wakeups}, p99", quantile(times, 0.99), "ms", bar,
                      f"p50 {quantile(times, 0.5):.1f}, {len(times)} approvals")


def pending_polls(table, programs, home):
    """Polls of pending codes. Both services take turns often, so that other load affects both."""
    polls, turns, boxes, all_cores = table.many(500, 50), 40, 100, os.sched_getaffinity(0)
    with Bench(programs, fresh(home, "sqlite")) as alone, Bench(programs, fresh(home, "server"), 1) as shared:
        used = {bench: [0, 0, 0, 0] for bench in (alone, shared)}
        for bench in used:
            bench.caller = Caller(bench.nodes[0].port)
            for number in range(boxes):
                bench.create(bench.caller, f"box-{number}")
        try:
            # The caller on one core and both nodes on another, because the kernel's placement changes the time of a
            # call by a fifth.
            if len(all_cores) > 1:
                here, there, *_ = sorted(all_cores)
                os.sched_setaffinity(0, {here})
                for bench in used:
                    stay(bench.nodes[0].running.process.pid, there)
            for turn in range(turns + 1):
                for bench in used:
                    spent = poll_turn(bench, polls, boxes)
                    # The first turn warms both up.
                    if turn:
                        used[bench] = [sum(both) for both in zip(used[bench], spent)]
        finally:
            os.sched_setaffinity(0, all_cores)
        count = polls * turns
        (node, _, took, _), (own, backends, shared_took, telling) = used[alone], used[shared]
        table.row("pending poll: its processor time / that on SQLite", own / node, "", 1.05,
                  f"{own / count * 1e6:.1f} and {node / count * 1e6:.1f} us, of it {telling / count * 1e6:.1f} in the threads that "
                  f"tell and hear; backends {backends / count * 1e6:.1f} us; {count / shared_took:.0f} and {count / took:.0f} polls/s")
    asked(table, programs, home, boxes)


def poll_turn(bench, polls, boxes):
    """The use of some polls: processor time of node and database, elapsed time, and that of the nonce threads."""
    requests = [bench.request("GET", POLL, f"box-{number % boxes}") for number in range(polls)]
    pid = bench.nodes[0].running.process.pid
    before = (*bench.processors(), time.perf_counter(), processor(pid, "pg "))
    for request in requests:
        bench.caller.call(request, 404)
    after = (*bench.processors(), time.perf_counter(), processor(pid, "pg "))
    return [late - early for early, late in zip(before, after)]


def stay(pid, core):
    """Pins all threads of a process to one core."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), {core})


# Statements that a node sends whatever its boxes do, and those for nonces, which are sent in batches.
APART = re.compile(r"nonce|pg_notify|FROM cluster c LEFT JOIN|\bnode\b|lease|^(BEGIN|COMMIT|ROLLBACK)$|LISTEN")


def asked(table, programs, home, boxes):
    """The statements for polls of pending codes, counted in the server's log."""
    with Bench(programs, fresh(home, "logged"), 1, settings=("log_statement = 'all'",)) as bench:
        caller, polls = Caller(bench.nodes[0].port), table.many(2000, 200)
        for number in range(boxes):
            bench.create(caller, f"box-{number}")
        time.sleep(1)
        log = bench.server.folder / "log"
        before = log.stat().st_size
        for number in range(polls):
            caller.call(bench.request("GET", POLL, f"box-{number % boxes}"), 404)
        time.sleep(0.3)
        text = log.read_bytes()[before:].decode()
    statements = re.findall(r"LOG:  (?:execute \S+|statement): (.*(?:\n\t.*)*)", text)
    statements = [" ".join(statement.split()) for statement in statements]
    others = [statement for statement in statements if not APART.search(statement)]
    kinds = collections.Counter(others).most_common(3)
    table.row("pending poll: statements besides those for nonces", len(others) / polls, "each", 0.005,
              f"{polls} polls, {len(statements)} statements in all, for nonces "
              f"{sum('INTO nonce' in one for one in statements)}; others {[(count, one[:70]) for one, count in kinds]}")


def fail_over(table, programs, home):
    """The time from the promotion of the standby to a new code at each node."""
    gaps, promotions = [], []
    cluster = Cluster(programs, fresh(home, "fail-over"), options=OPTIONS)
    try:
        key = provide(cluster.nodes[0], PROVIDER)
        for turn in range(table.many(3, 1)):
            if turn:
                cluster.follow()
            # All three nodes have open connections and load when it happens.
            stop, firsts = threading.Event(), {}

            def load(node):
                number = 0
                while not stop.is_set():
                    number += 1
                    status, _ = ask(
                        http.client.HTTPConnection("127.0.0.1", node.port, timeout=20), "POST",
                        f"{CODE}?deviceId=fail-{turn}-{node.name}-{number}&ttl=600",
                        [("Authorization", authorization(key, "POST", CODE))])
                    if status == 201 and promoted.is_set():
                        firsts.setdefault(node.name, time.perf_counter())
                    time.sleep(0.01)

            promoted = threading.Event()
            threads = [threading.Thread(target=load, args=(node,)) for node in cluster.nodes]
            for thread in threads:
                thread.start()
            time.sleep(1)
            cluster.primary.kill()
            begun = time.perf_counter()
            cluster.standby.promote()
            at = time.perf_counter()
            promoted.set()
            promotions.append(at - begun)
            cluster.primary, cluster.standby = cluster.standby, cluster.primary
            until("all nodes to write again", lambda: len(firsts) == len(cluster.nodes))
            stop.set()
            for thread in threads:
                thread.join()
            gaps.append(max(firsts.values()) - at)
    finally:
        cluster.stop()
    table.row("fail-over: promoted to a new code at every node", max(gaps), "s", 3,
              f"worst of {len(gaps)}; the promotion itself {max(promotions):.2f} s")


def memory(table, programs, home):
    """The memory of waiting boxes."""
    each, waiting = {}, table.many(4000, 400)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    for name, count in (("SQLite", 0), ("PostgreSQL", 1)):
        with Bench(programs, fresh(home, f"memory-{name}"), count) as bench:
            node, caller = bench.nodes[0], Caller(bench.nodes[0].port)
            pid = node.running.process.pid
            for number in range(waiting):
                bench.create(caller, f"box-{number}")
            time.sleep(1)
            before, callers = anonymous(pid), []
            for number in range(waiting):
                callers.append(Caller(node.port))
                callers[-1].send(bench.request("GET", POLL, f"box-{number}", "Prefer: wait=55\r\n"))
            time.sleep(1)
            each[name] = (anonymous(pid) - before) / waiting
            for one in callers:
                one.socket.close()
    # The same bar as in the benchmark table for SQLite.
    table.row("memory of a waiting device on PostgreSQL", each["PostgreSQL"], "KiB", 1.9,
              f"on SQLite {each['SQLite']:.2f}, {waiting} wait")


def by_nodes(table, programs, home):
    """Whole sign-ins, many at a time, each call at the next node: processor time of nodes and database per call."""
    each = {}
    for count in (1, 2, 3):
        with Bench(programs, fresh(home, f"nodes-{count}"), count) as bench:
            wave = Wave(bench)
            wave.sign_in("warm")
            wave.calls, begun, before = 0, time.perf_counter(), bench.processors()
            for number in range(table.many(10, 1)):
                wave.sign_in(number)
            took, after = time.perf_counter() - begun, bench.processors()
            each[count] = tuple((late - early) / wave.calls * 1e6 for early, late in zip(before, after)) + (wave.calls / took,)
    for count in (2, 3):
        table.row(f"a call's processor time at {count} nodes / that at one", sum(each[count][:2]) / sum(each[1][:2]), "", 1.2,
                  f"nodes {each[count][0]:.0f} and {each[1][0]:.0f} us, backends {each[count][1]:.0f} and {each[1][1]:.0f} us, "
                  f"{each[count][2]:.0f} and {each[1][2]:.0f} calls/s")


# Each line of the file is a request, with tabs for its line ends, as in the benchmarks of SQLite.
CALLS = """
local lines = io.lines("%s")
function request()
  local line = lines()
  if not line then wrk.thread:stop() return wrk.format("GET", "/healthz") end
  return line:gsub("\\t", "\\r\\n")
end
"""


def durable(table, programs, home):
    """New codes of many boxes at the same time, then the same rows inserted by a C program that does nothing else."""
    boxes, seconds, most = 512, table.many(5, 2), table.many(150_000, 30_000)
    program = pathlib.Path(home, "pipeline")
    include = subprocess.run(["pg_config", "--includedir"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["cc", "-O2", "-o", program, pathlib.Path(__file__).with_name("pipeline.c"), f"-I{include}", "-lpq"], check=True)
    with Bench(programs, fresh(home, "durable"), 1) as bench:
        node = bench.nodes[0]

        def load(name, seconds, count):
            calls, script = pathlib.Path(home, f"{name}.calls"), pathlib.Path(home, f"{name}.lua")
            with open(calls, "wb") as file:
                for number in range(count):
                    file.write(bench.request("POST", CODE, f"{name}-{number}", ttl=36000).replace(b"\r\n", b"\t") + b"\n")
            script.write_text(CALLS % calls)
            before = bench.processors()
            said = subprocess.run(
                ["wrk", "-t1", f"-c{boxes}", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{node.port}/"], check=True,
                capture_output=True, text=True).stdout
            used = [late - early for early, late in zip(before, bench.processors())]
            number = int(re.search(r"(\d+) requests in", said)[1])
            if "Non-2xx" in said or "Socket errors" in said or number >= count:
                raise SystemExit(f"figures: no code, or too few calls: {said}")
            return float(re.search(r"Requests/sec:\s*([\d.]+)", said)[1]), [one / number * 1e6 for one in used]

        load("warm", 1, 30_000)
        ours, used = load("box", seconds, most)
        bench.server.ask("CREATE TABLE reference (LIKE registration INCLUDING ALL)", "regent")
        reference = float(subprocess.run(
            [program, f"host=127.0.0.1 port={bench.server.port} user=regent dbname=regent", "registration", "reference"],
            check=True, capture_output=True, text=True).stdout)
    table.row("the same rows by pipeline 64 in C / new codes", reference / ours, "", 2,
              f"{ours:.0f} codes/s with {boxes} boxes at once, each {used[0]:.0f} us of the node and {used[1]:.0f} of the database; "
              f"{reference:.0f} rows/s; caller and all on one machine")


def writers(table, programs, home):
    """One writer of the cluster at a time, and three in parallel: the figures of decision 15, without a bar. Only the table
    is Regent's."""
    program = pathlib.Path(home, "writers")
    include = subprocess.run(["pg_config", "--includedir"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, pathlib.Path(__file__).with_name("writers.c"), f"-I{include}", "-lpq"],
                   check=True)
    with Bench(programs, fresh(home, "turns"), 1) as bench:
        bench.create(Caller(bench.nodes[0].port), "box")
        for node in bench.nodes:
            node.kill()
        place = f"host=127.0.0.1 port={bench.server.port} user=regent dbname=regent"
        for flush, delay in (("this disk's", 0), ("2 ms more", 2000)):
            # With a delay before the flush, as on a slower disk or with a standby, other COMMITs join it.
            bench.server.tell(f"commit_delay = {delay}", "commit_siblings = 0")
            for rows in (4, 64, 256):
                found = {way: [] for way in ("taking-turns", "side-by-side")}
                for _ in range(table.many(3, 1)):
                    for way in found:
                        bench.server.ask("DROP TABLE IF EXISTS reference; CREATE TABLE reference (LIKE registration INCLUDING ALL)",
                                         "regent")
                        said = subprocess.run([program, place, "registration", "reference", "3", str(rows), "2", way], check=True,
                                              capture_output=True, text=True).stdout
                        found[way].append(float(said))
                turns, beside = (quantile(found[way], 0.5) for way in found)
                table.row(f"3 writers beside each other / in turns, {rows} rows, flush {flush}", beside / turns, "", None,
                          f"{beside:.0f} and {turns:.0f} rows/s")


PARTS = (wake_ups, pending_polls, durable, fail_over, memory, by_nodes, writers)


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("programs")
    words.add_argument("--only", default="", help=", ".join(part.__name__ for part in PARTS))
    words.add_argument("--scale", type=float, default=1)
    words = words.parse_args()
    table = Table(words.only, words.scale)
    parts = [part for part in PARTS if words.only in part.__name__]
    if not parts:
        raise SystemExit(f"figures: no part {words.only}; there are: {', '.join(part.__name__ for part in PARTS)}")
    for part in parts:
        home = tempfile.mkdtemp(prefix="regent-figures-")
        os.chmod(home, 0o711)
        try:
            part(table, os.path.abspath(words.programs), home)
        finally:
            shutil.rmtree(home, ignore_errors=True)
    if table.missed:
        print(f"figures: missed: {', '.join(table.missed)}", file=sys.stderr)
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
