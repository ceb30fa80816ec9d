"""The phone's pages in three browser engines against a real regentd: `Tests/acceptance/run engines`."""

import argparse
import pathlib
import signal
import sys
import threading
import time
import traceback

from engines import plan
from engines.browsers import ENGINES
from engines.stage import Stage
from engines.wire import Hung
from service import Failure, Service


def arguments():
    parser = argparse.ArgumentParser(prog="engines", description=__doc__)
    parser.add_argument("programs", type=pathlib.Path, help="folder with regentd and regentctl")
    parser.add_argument("--full", action="store_true", help="all combinations, about two hours; default: four minutes")
    parser.add_argument("--only", default="", help="tests whose name contains this text")
    parser.add_argument("--engine", default="", help="engines whose name contains this text")
    parser.add_argument("--times", action="store_true", help="print each test and how long it took")
    return parser.parse_args()


class Run:
    def __init__(self, options):
        self.options, self.lock = options, threading.Lock()
        self.problems, self.told, self.hung, self.engines = 0, 0, 0, set()
        self.services = {https: Service(options.programs, https=https) for https in (False, True)}

    def perform(self, kind, tests):
        """Performs these tests one after another in one browser; scripts are on or off for a whole browser."""
        for script in (True, False):
            engine = None
            for test in tests:
                if test.script != script or self.options.only not in str(test):
                    continue
                began = time.monotonic()
                # A driver that hangs proves nothing about the pages, so the test is repeated in a new browser.
                for _ in range(3):
                    try:
                        engine = engine or self.start(kind, script)
                        problem = test.work(Stage(engine, self.services[test.https]))
                        break
                    except Exception as error:
                        is_hung = isinstance(error, Hung)
                        known = isinstance(error, (Failure, TimeoutError, Hung))
                        problem = str(error) if known else traceback.format_exc()
                        # The next test must not inherit what this one left open.
                        self.quit(engine)
                        engine = None
                    if not is_hung:
                        break
                    self.hung += 1
                self.report(f"{kind.name}: {test}", problem, time.monotonic() - began)
            self.quit(engine)

    def start(self, kind, script):
        engine = kind(script)
        self.engines.add(engine)
        return engine

    def quit(self, engine):
        if engine:
            engine.quit()
            self.engines.discard(engine)

    def report(self, name, problem, seconds):
        with self.lock:
            self.told += 1
            self.problems += bool(problem)
            if self.options.times:
                print(f"{seconds:6.1f} s  {name}", flush=True)
            if problem:
                print(f"{name}: {problem}", flush=True)

    def stop(self):
        for engine in list(self.engines):
            engine.quit()
        for service in self.services.values():
            if code := service.stop():
                self.report("regentd", f"ended with {code}", 0)


def main():
    options = arguments()
    began = time.monotonic()
    # The browsers end with this process, also when it is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    run = Run(options)
    choose = plan.full if options.full else plan.short
    try:
        threads = [
            threading.Thread(target=run.perform, args=(kind, list(choose(number))), daemon=True)
            for number, kind in enumerate(ENGINES) if options.engine in kind.name]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        run.stop()
    hung = f", {run.hung} times a driver hung" if run.hung else ""
    print(f"{run.told} tests in {len(threads)} engines, {time.monotonic() - began:.0f} s{hung}: {run.problems} problems")
    return 1 if run.problems or not run.told else 0


if __name__ == "__main__":
    sys.exit(main())
