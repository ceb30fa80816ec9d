"""A lost response to each form, which the browser sends again: it must end as without the loss, or with a true
sentence.

The service has processed the form, and the response is lost in one of two ways. The connection ends: the browser sends
the form again by itself, or shows an error and the viewer reloads. Or nothing comes: the viewer taps once more.
"""

from engines.losing import Losing
from engines.stage import Stage, heading, settled
from engines.window import DELIBERATE
from service import Failure

# With scripts the page ignores a second tap for ten seconds.
PATIENCE = {True: 11, False: DELIBERATE + 0.2}


def lost_answer(stage, case, silent):
    """Returns what is wrong in the end, or None."""
    proxy = Losing(stage.service)
    try:
        return one_lost_answer(Stage(stage.engine, proxy.service), proxy, case, silent)
    finally:
        proxy.stop()


def one_lost_answer(stage, proxy, case, silent):
    engine = stage.engine
    scene = case.scene(stage)
    page = stage.enter(scene)
    button = case.button
    left, top, width, height = engine.rectangle(button)
    scene.mark()
    engine.deliberate()
    proxy.lose(silent)
    engine.taps(left + width / 2, top + height / 2, [PATIENCE[engine.script]] if silent else [])
    if not proxy.lost.wait(10):
        raise Failure(f"no form was sent: {engine.look()}")
    wished = [heading(key) for key in case.after]
    if not silent and engine.settled_heading(wished, 1) not in wished:
        # Chromium and WebKit send a form again by themselves if the connection was used before. Otherwise the viewer
        # reloads, and if that brings back the form, fills it in and sends it again.
        engine.reload()
        if engine.settled_heading([page["heading"], *wished], 6) == page["heading"] not in wished:
            stage.fill(scene)
            engine.press(button)
    wanted = list(case.actions), case.state
    found = settled(wanted, lambda: (scene.actions(), scene.state() if case.state else None))
    shown = engine.settled_heading(wished)
    problems = []
    if found != wanted:
        problems.append(f"audit {found[0]}, box {found[1]}, instead of {wanted[0]}, {wanted[1]}")
    if shown not in wished:
        problems.append(f"the page says {shown!r}: {engine.words()}")
    return "; ".join(problems) or None
