"""Hasty taps: each button of each page that leads to another one, tapped again at the same place.

One series taps a button, and again after 60, 120, 300, 500, 700 and 900 ms. A tap that does not count leaves the page
as it was, so that one page is enough for all of them. The test reads the effects at the service (audit log, the box's
call, the session), not on the page: only the first tap's decision, no report, and the viewer is still signed in. The
first tap comes 1.2 s after its page is shown, so each case also shows that a deliberate tap counts.
"""

import time

from engines.stage import settled
from service import Failure

MOMENTS = (0.06, 0.12, 0.3, 0.5, 0.7, 0.9)
# Where on the button, as shares of its width and height. The next page's button may lie half a button higher or lower.
PLACES = {"left": (0.1, 0.5), "middle": (0.5, 0.5), "right": (0.9, 0.5), "top": (0.3, 0.1), "bottom": (0.7, 0.9)}
# Seconds by which a tap may be late, as on a busy machine. A later tap is tried again.
TOLERANCE = 0.08
# In milliseconds: a little less than the second in which a page ignores decisions.
LAST = 930


def hasty_taps(stage, case, place):
    """Returns what is wrong after taps at all moments, or None."""
    if case.name not in stage.engine.following:
        # One deliberate tap alone, to know the next page.
        problem, now, _ = series(stage, case, place, [])
        if problem:
            return problem
        stage.engine.following[case.name] = now["heading"]
    left, measured = list(MOMENTS), []
    for _ in range(12):
        problem, now, real = series(stage, case, place, left)
        # A tap after more than a second is a deliberate one on the next page.
        if problem and max(real, default=0) < 1:
            return f"{problem}; taps after {', '.join(f'{moment * 1000:.0f}' for moment in real)} ms"
        if problem:
            continue
        covered = [moment for moment, found in zip(left, real) if abs(found - moment) <= TOLERANCE]
        # A tap that leads to another page is no decision, but the taps after it did not hit the page under test.
        if now["heading"] != stage.engine.following[case.name]:
            covered = covered[:1] if covered[:1] == left[:1] else []
        measured += [found for moment, found in zip(left, real) if moment in covered]
        left = [moment for moment in left if moment not in covered]
        stage.timing = " ".join(f"{moment * 1000:.0f}" for moment in sorted(measured))
        if not left:
            return None
    raise Failure(f"the machine is too slow for taps after {left} s, twelve times")


def series(stage, case, place, moments):
    """What is wrong after one series, the page that is shown, and the moments of the taps."""
    scene = scene_of(stage, case)
    page = stage.enter(scene)
    stage.engine.rectangle(case.button)
    across, down = PLACES[place]
    scene.mark()
    stage.engine.deliberate()
    # The page of a result changes by itself meanwhile.
    left, top, width, height = stage.engine.rectangle(case.button)
    real = stage.engine.taps(left + width * across, top + height * down, moments)
    problem, now = effects(stage, case, scene, page)
    # Only a scene without a problem is used again.
    if case.again and not problem:
        stage.scenes[case.name] = scene
    return problem, now, real


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
    """A screen reader activates the button, and then each decision of the next page within its first second."""
    scene = scene_of(stage, case)
    page = stage.enter(scene)
    scene.mark()
    stage.engine.rectangle(case.button)
    stage.engine.deliberate()
    if not stage.engine.activate(case.button):
        raise Failure(f"{case.button} is not exposed to screen readers")
    # Without script only the exposed elements: a screen reader cannot find the others. A cover does not hide a list.
    decisions = ".rest > button, .rest > .button" + (", .settling button" if stage.engine.script else "")
    following, ages, is_second, end = None, [], False, time.monotonic() + 5
    while time.monotonic() < end:
        time.sleep(0.06)
        now = stage.engine.look()
        if not now or now["document"] == page["document"]:
            # The old page is still shown: activate its button a second time.
            is_second = is_second or stage.engine.activate(case.button) is not None
        elif stage.engine.script and not now["whole"]:
            # A list's cover stops only taps until the script is loaded.
            continue
        elif stage.engine.activate(decisions, LAST, hidden=stage.engine.script) is not None:
            ages.append(round(now["age"]))
            following = following or now
        elif now["age"] > LAST:
            break
    problem, now = effects(stage, case, scene, page)
    if following and now["document"] != following["document"]:
        problem = f"an activation in the page's first second counted{'; ' if problem else ''}{problem or ''}"
    if case.again and not problem:
        stage.scenes[case.name] = scene
    stage.timing = " ".join(map(str, ages))
    return problem
