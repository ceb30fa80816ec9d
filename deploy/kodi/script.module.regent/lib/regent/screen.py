"""The texts of the sign-in screen: a state machine without Kodi that gets events and the time."""

from . import words


class Screen:
    """The state of the screen. `language` is that of the texts."""

    def __init__(self, language):
        self.language = language
        self.stage, self.code, self.end, self.number, self.problem, self.name = "starting", None, None, None, None, None
        self.is_account_disabled = False

    def handle(self, event, now):
        """Takes an event of a pairing; `now` is in seconds of a clock that only goes forward."""
        kind = event["event"]
        if kind == "code":
            self.stage, self.code, self.end = "waiting", event, now + (event.get("seconds") or self._left(event))
            self.number = self.problem = None
        elif kind == "opened":
            self.stage, self.number, self.problem = "connected", None, None
        elif kind == "match":
            self.stage, self.number, self.problem = "number", event["number"], None
        elif kind == "authenticated":
            self.stage, self.name, self.problem = "signed-in", event.get("provider"), None
        elif kind == "denied":
            self.stage = "denied-at-number" if self.stage == "number" else "denied"
        elif kind == "expired":
            self.stage = "expired"
        elif kind == "error" and event["code"] == "not-signed-in":
            # During a sign-in this code means that the account of the earlier one is disabled.
            self.is_account_disabled = True
        elif kind == "error":
            self.problem = event
        elif kind == "recovered":
            self.problem = None

    def fail(self, error):
        """The pairing ended with an error."""
        self.stage, self.problem = "failed", {"code": error.code, "message": error.message, "host": getattr(error, "host", None)}

    @staticmethod
    def _left(event):
        # The daemon gives only the expiry by the wall clock. Half an hour is assumed if the device's clock is
        # obviously wrong.
        import time
        left = event["expires"] / 1000 - time.time()
        return left if 1 <= left <= 36000 else 1800

    def text(self, phrase, **values):
        return words.text(self.language, phrase, **values)

    @property
    def shows_code(self):
        return self.stage in ("waiting", "connected", "number")

    @property
    def may_ask_again(self):
        return self.stage in ("waiting", "denied", "denied-at-number", "expired", "failed")

    def seconds_left(self, now):
        return max(0, self.end - now) if self.shows_code else 0

    def countdown(self, now):
        if not self.shows_code:
            return ""
        left = self.seconds_left(now)
        return f"{int(left) // 60}:{int(left) % 60:02d}"

    @property
    def lines(self):
        """What is said below the code; the first line is the most important."""
        problem = self._problem()
        said = {
            "starting": ["problemAccountDisabled" if self.is_account_disabled else "starting"],
            "waiting": ["problemAccountDisabled" if self.is_account_disabled else "waiting"], "connected": ["connected", "compareCode"],
            "number": ["chooseNumber"], "denied": ["denied"], "denied-at-number": ["deniedAtNumber"], "expired": ["expired"],
            "failed": [],
        }.get(self.stage)
        if said is None:
            provider = [self.text("signedInProvider", provider=self.name)] if self.name else []
            return [self.text("signedIn")] + provider
        lines = problem + ([] if problem and self.stage in ("starting", "failed") else [self.text(one) for one in said])
        return lines + ([self.text("codeStays")] if problem and self.stage == "waiting" else [])

    def _problem(self):
        if self.problem is None:
            return []
        code, host = self.problem["code"], self.problem.get("host")
        if code == "busy" and self.problem.get("seconds"):
            return [self.text("problemBusyFor", count=str(self.problem["seconds"]))]
        phrase = {
            "clock": "problemClock", "captive-portal": "problemPortal", "not-trusted": "problemRefused",
            "foreign-address": "problemForeignAddress", "busy": "problemBusy", "storage": "problemStorage",
            "service": "problemService",
        }.get(code)
        if phrase:
            return [self.text(phrase)]
        if code == "unreachable" and host:
            return [self.text("offline", host=host)] + ([] if self.stage == "failed" else [self.text("offlineRetry")])
        return [self.problem.get("message") or code]
