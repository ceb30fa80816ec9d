"""The phone's pages in three browser engines against a real regentd: `Tests/acceptance/run engines`."""

import argparse
import pathlib
import sys
import threading
import time
import traceback

from engines import plan
from engines.browsers import ENGINES
from engines.stage import Stage
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
        self.problems, self.told = [], 0
        self.services = {https: Service(options.programs, https=https) for https in (False, True)}

    def perform(self, kind, tests):
        """These tests in one browser after the other; script is on or off for a whole browser."""
        for script in (True, False):
            chosen = [test for test in tests if test.script == script and self.options.only in str(test)]
            engine = None
            for test in chosen:
                began = time.monotonic()
                try:
                    engine = engine or kind(script)
                    test.work(Stage(engine, self.services[test.https]))
                    problem = None
                except Exception as error:
                    problem = str(error) if isinstance(error, (Failure, TimeoutError)) else traceback.format_exc()
                    # The next test must not inherit a browser that hangs.
                    if engine:
                        engine.quit()
                        engine = None
                self.report(f"{kind.name}: {test}", problem, time.monotonic() - began)
            if engine:
                engine.quit()

    def report(self, name, problem, seconds):
        with self.lock:
            self.told += 1
            if problem:
                self.problems.append(f"{name}: {problem}")
            if self.options.times:
                print(f"{seconds:6.1f} s  {'red   ' if problem else 'green '} {name}", flush=True)

    def stop(self):
        for service in self.services.values():
            if code := service.stop():
                self.problems.append(f"regentd ended with {code}")


def main():
    options = arguments()
    began = time.monotonic()
    run = Run(options)
    try:
        threads = [
            threading.Thread(target=run.perform, args=(kind, list((plan.full if options.full else plan.short)(number))))
            for number, kind in enumerate(ENGINES) if options.engine in kind.name]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        run.stop()
    for problem in run.problems:
        print(problem)
    print(f"{run.told} tests in {len(threads)} engines, {time.monotonic() - began:.0f} s: {len(run.problems)} problems")
    return 1 if run.problems or not run.told else 0


if __name__ == "__main__":
    sys.exit(main())
