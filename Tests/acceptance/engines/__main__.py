"""The phone's pages in three browser engines against a real regentd: `Tests/acceptance/run engines`."""

import argparse
import pathlib
import signal
import sys
import time

from engines import plan
from engines.browsers import ENGINES
from engines.results import Results, state
from engines.run import Run


def arguments():
    parser = argparse.ArgumentParser(prog="engines", description=__doc__)
    parser.add_argument("programs", type=pathlib.Path, help="folder with regentd and regentctl")
    parser.add_argument("--full", action="store_true", help="all combinations, half an hour; default: some minutes")
    parser.add_argument("--only", default="", help="tests whose name contains this text")
    parser.add_argument("--engine", default="", help="engines whose name contains this text")
    parser.add_argument("--times", action="store_true", help="print each test and how long it took")
    parser.add_argument("--beside", type=int, help="browsers of one kind at the same time (default: 1, with --full 2)")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path(".build/results/engines.tsv"),
                        help="the file from which --full continues a run that was interrupted")
    return parser.parse_args()


def main():
    options = arguments()
    began = time.monotonic()
    # The browsers end with this process, also when it is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    results = Results(options.results, state(options.programs)) if options.full else Results()
    choose = plan.full if options.full else plan.short
    tests = [(kind, test) for number, kind in enumerate(ENGINES) if options.engine in kind.name
             for test in choose(number) if options.only in str(test)]
    left = [(kind, test) for kind, test in tests if not results.is_known(test.key(kind.name))]
    run, again = Run(options.programs, results, options.times), []
    try:
        run.perform(left, options.beside or 1 + options.full)
        # A failure on a busy machine is a defect only if the test also fails while nothing else runs.
        again = [(kind, test) for kind, test in left if not results.is_known(test.key(kind.name))]
        for pair in again:
            run.perform([pair], 1)
    finally:
        problems = run.stop()
    problems += [f"{kind.name}: {test}" for kind, test in tests if not results.is_known(test.key(kind.name))]
    if options.full:
        print(*results.table(), sep="\n")
    for problem in problems:
        print(problem)
    hung = f", {run.hung} times a driver hung" if run.hung else ""
    print(f"{len(tests)} tests, {len(left)} in this run, {len(again)} again alone, "
          f"{time.monotonic() - began:.0f} s{hung}: {len(problems)} problems")
    return 1 if problems or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
