"""Which tests run in which browser: the short run has every page in every engine, the full run every combination."""

import dataclasses
import itertools

from engines import journeys
from engines.cases import CASES
from engines.lost import lost_answer
from engines.taps import PLACES, activated, hasty_taps

JOURNEYS = (journeys.approve, journeys.number, journeys.deny, journeys.none_of_these)
RETURNS = (
    journeys.back, journeys.two_tabs_of_a_sign_in, journeys.two_tabs_of_an_approval, journeys.enter_held_down)


@dataclasses.dataclass
class Test:
    group: str
    case: str
    detail: str
    script: bool
    https: bool
    # Called with a stage; returns what is wrong, or raises an error if the test cannot continue.
    work: object

    def key(self, engine):
        """The name of this test in an engine, as columns of the file of results."""
        return (engine, self.group, self.case, self.detail, "script" if self.script else "no script",
                "https" if self.https else "http")

    def __str__(self):
        return (f"{self.group}: {self.case}{self.detail and ', ' + self.detail}, "
                f"{'script' if self.script else 'no script'}{', https' if self.https else ''}")


def taps(case, place, script, https=False):
    return Test("hasty taps", case.name, place, script, https, lambda stage: hasty_taps(stage, case, place))


def reader(case, script):
    return Test("screen reader", case.name, "", script, False, lambda stage: activated(stage, case))


def lost(case, silent, script):
    kind = "silence" if silent else "connection ends"
    return Test("lost answer", case.name, kind, script, False, lambda stage: lost_answer(stage, case, silent))


def told(group, function, script, https=False):
    return Test(group, function.__name__.replace("_", " "), "", script, https, function)


def short(engine):
    """`engine` is the number of the engine: each engine gets other gaps, places, scripts and https."""
    for script, https in itertools.product((True, False), repeat=2):
        yield told("journey", JOURNEYS[(engine + script + 2 * https) % 4], script, https)
    for number, function in enumerate(RETURNS):
        yield told("again", function, (engine + number) % 2 == 0)
    yield told("again", journeys.news_on_the_result_page, True)
    for number, case in enumerate(CASES):
        turn = number + 2 * engine
        script = turn // 2 % 2 == 0 if case.script is None else case.script
        place = list(PLACES)[turn % 5]
        yield taps(case, place, script)
        for worst in case.worst:
            if (worst, True) != (place, script):
                yield taps(case, worst, True)
        if number % 3 == engine:
            yield reader(case, script)
    forms = [case for case in CASES if case.after]
    for number, case in enumerate(forms):
        if number % 3 == engine:
            script = number // 3 % 2 == 0 if case.script is None else case.script
            yield lost(case, not script, script)


def full(_):
    for script, https in itertools.product((True, False), repeat=2):
        for function in JOURNEYS:
            yield told("journey", function, script, https)
        for function in RETURNS:
            yield told("again", function, script, https)
        if script:
            yield told("again", journeys.news_on_the_result_page, True, https)
    for script, case in itertools.product((True, False), CASES):
        if case.script not in (None, script):
            continue
        for https in (False, True):
            for place in list(PLACES)[https::2]:
                yield taps(case, place, script, https)
        yield reader(case, script)
        if case.after:
            for silent in (True, False):
                yield lost(case, silent, script)
