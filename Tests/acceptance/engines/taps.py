"""Double taps: each button of each page that leads to another one, tapped twice at the same place.

The second tap hits the page that followed. The test reads the effects at the service (audit log, the box's call, the
session), not on the page: only the first tap's decision, no report, and the viewer is still signed in. The first tap
comes 1.2 s after its page is shown, so each case also shows that a deliberate tap counts.
"""

import time

from engines.stage import settled
from service import Failure

GAPS = (0.06, 0.12, 0.3, 0.5, 0.7, 0.9)
# Where on the button, as shares of its width and height. The next page's button may lie half a button higher or lower.
PLACES = {"left": (0.1, 0.5), "middle": (0.5, 0.5), "right": (0.9, 0.5), "top": (0.3, 0.1), "bottom": (0.7, 0.9)}
# The taps of a busy machine come later. More than this, and the double tap is repeated.
TOLERANCE = 0.08
# In milliseconds: a little less than the second in which a page ignores decisions.
LAST = 930


def double_tap(stage, case, gap, place):
    """Returns what is wrong after a double tap, or None."""
    for _ in range(6):
        scene = scene_of(stage, case)
        page = stage.enter(scene)
        left, top, width, height = stage.engine.rectangle(case.button)
        across, down = PLACES[place]
        point = (left + width * across, top + height * down)
        scene.mark()
        stage.engine.deliberate()
        real, pressed = stage.engine.taps([point, point], gap)
        problem, now = effects(stage, case, scene, page)
        # Only a scene without a problem is used again.
        if case.again and not problem:
            stage.scenes[case.name] = scene
        # The age of the page at the second tap, by the browser's clock. None if the tap hit the page before.
        age = now and now["tapped"]
        if now and age is None and pressed and pressed * 1000 > now["document"]:
            age = pressed * 1000 - now["document"]
        if not pressed and age is not None:
            # The driver reports the time with its own delays.
            real = max(gap, age / 1000)
        if abs(real - gap) <= TOLERANCE:
            stage.timing = f"{real * 1000:.0f} {'-' if age is None else round(age)}"
            return problem
    raise Failure(f"the machine is too slow for a double tap, six times: {real * 1000:.0f} ms; {problem}")


def scene_of(stage, case):
    """A scene that the test before left as it was, or a new one."""
    return stage.scenes.pop(case.name, None) or case.scene(stage)


def effects(stage, case, scene, page):
    """What is wrong after one deliberate tap and what followed, or None; and the page that is shown."""
    problems = []
    try:
        stage.engine.leaves(page)
    except TimeoutError:
        problems.append("the first tap did not count")
    # The effects of the second tap need time.
    now = stage.engine.still()
    wanted = (list(case.actions), case.state)
    found = settled(wanted, lambda: (scene.actions(), scene.state() if case.state else None))
    if found != wanted:
        problems.append(f"audit {found[0]}, box {found[1]}, instead of {wanted[0]}, {wanted[1]}")
    session = scene.viewer.copy()
    for name, value in stage.engine.cookies().items():
        session.jar[name] = {"value": value}
    if session.is_signed_in() != case.signed_in:
        problems.append("signed in, which it should not be" if not case.signed_in else "not signed in any more")
    return f"{'; '.join(problems)}; page {now and now['heading']!r}" if problems else None, now


def activated(stage, case):
    """The viewer's screen reader activates the button, and then everything that decides on the next page, too early."""
    scene = scene_of(stage, case)
    page = stage.enter(scene)
    scene.mark()
    stage.engine.rectangle(case.button)
    stage.engine.deliberate()
    if not stage.engine.activate(case.button):
        raise Failure(f"{case.button} is not exposed to screen readers")
    # Without script only the exposed elements: a screen reader cannot find the others. A cover does not hide a list.
    decisions = ".rest > button, .rest > .button" + (", .settling button" if stage.engine.script else "")
    ages, is_second, end = [], False, time.monotonic() + 5
    while time.monotonic() < end:
        time.sleep(0.06)
        now = stage.engine.look()
        if not now or now["document"] == page["document"]:
            # Once more on the page that is about to end.
            is_second = is_second or stage.engine.activate(case.button) is not None
        elif stage.engine.activate(decisions, LAST, hidden=stage.engine.script) is not None:
            ages.append(round(now["age"]))
        elif now["age"] > LAST:
            break
    problem, now = effects(stage, case, scene, page)
    if case.again and not problem:
        stage.scenes[case.name] = scene
    stage.timing = " ".join(map(str, ages))
    return problem
