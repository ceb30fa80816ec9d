"""Each button that leads from one page to another: how a test reaches it, and what one tap on it does."""

import dataclasses

from engines.stage import Scene
from service import PASSWORD


@dataclasses.dataclass
class Case:
    name: str
    scene: object
    button: str
    # The state that the box sees afterwards; None if the code has no decision yet.
    state: object = None
    # The actions that one tap adds to the audit log.
    actions: tuple = ()
    signed_in: object = True
    # Only with script, or only without.
    script: object = None
    # The page after a form, or the pages that are right when the response was lost and the browser sends the form
    # again.
    after: tuple = ()
    # Whether the page is there as before after the tap, so that the next test can begin at once.
    again: bool = False
    # Places at which the next page has a decision; the short run tries them in each engine.
    worst: tuple = ()


def approval(stage, **query):
    return Scene(stage, stage.known(), **query).scanned()


def numbers(stage):
    scene = approval(stage, match="number")
    scene.viewer.press({"class": "approve"})
    return scene.at("/D/{code}/number")


def typed_number(stage):
    scene = numbers(stage)
    scene.fill = {"#number": str(scene.box.look()["match"])}
    return scene


def result(stage):
    scene = approval(stage)
    scene.viewer.press({"class": "approve"})
    return scene.at("/D/{code}/result")


def reports(stage):
    scene = approval(stage)
    scene.before = ("summary",)
    return scene


def denied(stage):
    scene = approval(stage)
    scene.viewer.press({"class": "deny"})
    return scene.at("/D/{code}/result")


def providers(stage):
    return Scene(stage).scanned()


def sign_in(stage, **query):
    scene = Scene(stage, **query).scanned()
    scene.user = stage.account()
    scene.fill = {"#user": scene.user, "#password": PASSWORD}
    return scene.at("/D/{code}/sign-in?provider=aurora")


def typed(stage):
    scene = Scene(stage, stage.known())
    scene.fill = {"#code": scene.code}
    return scene


def screens(stage, path="/screens"):
    return Scene(stage, stage.account()).approved().at(path)


def screen(action):
    return lambda stage: Scene(stage, stage.account()).approved().screen(action)


def renamed(stage):
    scene = screen("/rename")(stage)
    scene.fill = {"#name": "Attic"}
    return scene


def password(stage):
    scene = screens(stage, "/password")
    scene.fill = {"#current": PASSWORD, "#new": "another password of many words"}
    return scene


def screens_sign_in(stage):
    scene = screens(stage, "/sign-in/aurora?return=/screens")
    scene.viewer.jar = {}
    scene.fill = {"#user": scene.user, "#password": PASSWORD}
    return scene


DONE = "result.approved.title", "result.delivered.title"
OUT = "notice.signed-out.title",

CASES = (
    Case("scanned: Continue", lambda stage: Scene(stage).at("/D/{code}"), "main form button", "opened",
         signed_in=False, script=False, after=("provider.title",)),
    Case("scanned, signed in: Continue", lambda stage: Scene(stage, stage.known()).at("/D/{code}"),
         "main form button", "claimed", script=False, after=("approve.title",)),
    Case("typed: Continue", typed, "main form button", "claimed", after=("approve.title",)),
    Case("providers: a provider", providers, "button[value=aurora]", "opened", signed_in=False,
         after=("sign-in.title",)),
    Case("providers: a guest's", providers, "button[value=pass]", "claimed", signed_in=False, after=("approve.title",)),
    Case("providers, signed in: a provider", lambda stage: approval(stage).at("/D/{code}/provider"),
         "button[value=aurora]", "claimed", after=("approve.title",)),
    Case("sign-in", sign_in, "button.main", "claimed", after=("approve.title",),
         worst=("left", "right")),
    Case("sign-in, number matching", lambda stage: sign_in(stage, match="number"), "button.main", "claimed",
         after=("approve.title",)),
    Case("sign-in: Use another provider", sign_in, "main .aside a", signed_in=False, again=True),
    Case("approve", approval, "button.approve", 200, ("code.approve",), after=DONE),
    Case("approve, number matching", lambda stage: approval(stage, match="number"), "button.approve", "claimed",
         after=("number.title",), worst=("top",)),
    Case("approve: Deny", approval, ".choices button.deny", 403, ("code.deny",), after=("notice.denied.title",)),
    Case("approve: Deny and report", reports, "details button.deny", 403, ("code.report",),
         after=("notice.reported.title", "notice.denied.title")),
    Case("approve: Use another account", approval, "form.aside button", "opened", after=("provider.title",)),
    Case("approve: a language", approval, "button[value=it]", "claimed"),
    Case("approve: My screens", approval, "a.account", "claimed", again=True),
    Case("number: the right one", typed_number, "button.approve", 200, ("code.approve",), after=DONE),
    Case("number: my screen shows none", numbers, ".deny", "claimed", again=True),
    Case("report: Deny and report", lambda stage: numbers(stage).at("/D/{code}/report"), "button.deny", 403,
         ("code.report",), after=("notice.reported.title", "notice.denied.title")),
    Case("report: Back to the number", lambda stage: numbers(stage).at("/D/{code}/report"), "main .aside a", "claimed",
         again=True),
    Case("result: Check again", result, "[data-refresh] a", 200),
    Case("result: My screens", result, "main .aside a", 200, again=True),
    Case("denied: Enter your code", denied, "main a.button", 403, again=True),
    Case("screens: Rename", screens, ".screens a[href$='/rename']", 200, again=True),
    Case("screens: Sign out", screens, ".screens a[href$='/sign-out']", 200, again=True),
    Case("screens: Sign out all", screens, "a[href='/screens/sign-out']", 200, again=True),
    Case("screens: Change password", screens, "a[href='/password']", 200, again=True),
    Case("screens: Sign out this phone", screens, ".account-box a[href='/sign-out']", 200, again=True),
    Case("screens: Sign in a screen", screens, "main a[href='/']", 200, again=True),
    Case("rename: Save", renamed, "button.main", 200, ("device.name",), after=("screens.title",)),
    Case("sign out a screen", screen("/sign-out"), "button.main", None, ("device.sign-out",),
         after=("screens.title", "notice.no-such-screen.title")),
    Case("sign out all", lambda stage: screens(stage, "/screens/sign-out"), "button.main", 404, ("device.sign-out",),
         after=("screens.title",)),
    Case("sign out this phone", lambda stage: screens(stage, "/sign-out"), "button.main", 200, ("session.end",), False,
         after=OUT),
    Case("sign out, a programmer's page", lambda stage: screens(stage, "/logout"), "button.main", 200,
         ("session.end",), False, after=OUT),
    Case("password: Change", password, "button.main", 200, ("account.password",),
         after=("screens.title", "password.title")),
    Case("screens, sign-in", screens_sign_in, "button.main", 200, after=("screens.title",)),
)
