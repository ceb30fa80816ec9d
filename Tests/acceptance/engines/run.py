"""Performs tests side by side: each browser is used by one thread, and the threads share a list of tests."""

import collections
import itertools
import threading
import time
import traceback

from engines.stage import Stage
from engines.wire import Hung
from service import Failure, Service


class Run:
    def __init__(self, programs, results, times):
        self.results, self.times, self.lock = results, times, threading.Lock()
        self.hung, self.ends, self.engines = 0, False, set()
        self.services = {https: Service(programs, https=https) for https in (False, True)}

    def perform(self, tests, beside):
        """Performs these pairs of an engine's class and a test, in `beside` browsers for each kind of browser."""
        work = collections.defaultdict(list)
        for kind, test in tests:
            work[kind, test.script].append(test)
        threads = []
        for (kind, script), mine in work.items():
            parts = [
                list(part) for _, part in itertools.groupby(mine, lambda test: (test.https, test.group, test.case))]
            for number in range(beside):
                threads.append(threading.Thread(
                    target=self.work, args=(kind, script, number % 2 == 1, parts), daemon=True))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def work(self, kind, script, calm, parts):
        """One browser. The one with less motion prefers tests with https, so that motion and transport both vary."""
        engine = None
        while True:
            with self.lock:
                if not parts or self.ends:
                    break
                part = next((part for part in parts if part[0].https == calm), parts[0])
                parts.remove(part)
            stage = None
            for test in part:
                if self.ends:
                    break
                began = time.monotonic()
                # A driver that hangs proves nothing about the pages, so the test is repeated in a new browser.
                for _ in range(3):
                    is_hung = False
                    try:
                        engine = engine or self.start(kind, script, calm)
                        stage = stage or Stage(engine, self.services[test.https])
                        problem = test.work(stage)
                    except Exception as error:
                        is_hung = isinstance(error, Hung)
                        known = isinstance(error, (Failure, TimeoutError, Hung))
                        problem = str(error) if known else traceback.format_exc()
                        self.quit(engine)
                        engine = None
                    if problem:
                        # The next test must not inherit what this one left open.
                        stage = None
                    if not is_hung or self.ends:
                        break
                    self.hung += 1
                if self.ends:
                    break
                self.report(kind, test, problem, time.monotonic() - began, stage.timing if stage else "")
        self.quit(engine)

    def start(self, kind, script, calm):
        engine = kind(script, calm)
        self.engines.add(engine)
        if self.ends:
            self.quit(engine)
        return engine

    def quit(self, engine):
        if engine:
            engine.quit()
            self.engines.discard(engine)

    def report(self, kind, test, problem, seconds, timing):
        self.results.add(test.key(kind.name), problem, seconds, timing)
        with self.lock:
            if self.times:
                print(f"{seconds:6.1f} s  {kind.name}: {test}  {timing}", flush=True)
            if problem:
                print(f"{kind.name}: {test}: {problem}", flush=True)

    def stop(self):
        """Ends everything; returns what went wrong."""
        self.ends = True
        for engine in list(self.engines):
            engine.quit()
        codes = [service.stop() for service in self.services.values()]
        return [f"regentd ended with {code}" for code in codes if code]
