"""Double taps: each button of each page that leads to another one, tapped twice at the same place.

The second tap hits the page that followed. The test reads the effects at the service (audit log, the box's call, the
session), not on the page: only the first tap's decision, no report, and the viewer is still signed in. The first tap
comes 1.2 s after its page is shown, so each case also shows that a deliberate tap counts.
"""

import time

from engines.engine import DELIBERATE
from engines.stage import settled
from service import Failure

GAPS = (0.06, 0.12, 0.3, 0.5, 0.7, 0.9)
# Where on the button, as shares of its width and height. The next page's button may lie half a button higher or lower.
PLACES = {"left": (0.1, 0.5), "middle": (0.5, 0.5), "right": (0.9, 0.5), "top": (0.3, 0.1), "bottom": (0.7, 0.9)}


def double_tap(stage, case, gap, place):
    """Returns what is wrong after a double tap, or None."""
    for _ in range(3):
        problem, seconds = one_double_tap(stage, case, gap, place)
        # After more than a second the second tap is a deliberate one on the next page.
        if not problem or seconds < 1:
            return problem
    raise Failure(f"the machine is too slow for a double tap, three times: {problem}")


def one_double_tap(stage, case, gap, place):
    scene = case.scene(stage)
    page = stage.enter(scene)
    left, top, width, height = stage.engine.rectangle(case.button)
    before = scene.actions()
    time.sleep(DELIBERATE)
    across, down = PLACES[place]
    point = (left + width * across, top + height * down)
    seconds = gap + stage.engine.taps([point, point], gap)
    problems = []
    try:
        stage.engine.leaves(page)
    except TimeoutError:
        problems.append("the first tap did not count")
    # The effects of the second tap need time.
    now = stage.engine.still()
    wanted = (list(case.actions), case.state)
    found = settled(wanted, lambda: (scene.actions()[len(before):], scene.state() if case.state else None))
    if found != wanted:
        problems.append(f"audit {found[0]}, box {found[1]}, instead of {wanted[0]}, {wanted[1]}")
    session = scene.viewer.copy()
    for name, value in stage.engine.cookies().items():
        session.jar[name] = {"value": value}
    if session.is_signed_in() != case.signed_in:
        problems.append("signed in, which it should not be" if not case.signed_in else "not signed in any more")
    return f"{'; '.join(problems)}; page {now and now['heading']!r}" if problems else None, seconds
