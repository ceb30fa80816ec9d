"""The box's `regent daemon` with the methods of Service. The daemon keeps the tokens; this module only calls it."""

import socket

from .daemon import Regent, RegentError


class Daemon(Regent):
    """The daemon on this machine; `is_there` says whether one listens."""

    via = "daemon"

    def __init__(self, path=None):
        super().__init__(path)
        self._left = self._recovered = False

    @property
    def is_there(self):
        if not hasattr(socket, "AF_UNIX"):
            return False
        try:
            self._call("POST", "alive", {})
        except RegentError:
            return False
        return True

    def refresh(self):
        return self.status()

    def media_token(self, resource):
        return self.authorize(resource)["token"]

    def sign_out(self):
        return self.logout()

    def leave(self, keeps_code=False):
        """Ends `pair`. The daemon withdraws its code in any case."""
        self._left = True

    def pair(self, number_matching=False, force=False):
        """Yields the events of `regent pair --json`, and {"event": "recovered"}."""
        self._left = self._recovered = False
        opened = False
        for event in super().pair(force=force, number_matching=number_matching, wait=1):
            if self._left:
                return
            if self._recovered:
                self._recovered = False
                yield {"event": "recovered"}
            if event["event"] == "waiting":
                continue
            opened = event["event"] in ("opened", "match") or opened and event["event"] != "code"
            yield {**event, "opened": opened}

    def _call(self, method, name, body=None, more=None):
        answer = super()._call(method, name, body, more)
        if name == "pair/news" and any(one["event"] == "recovered" for one in answer["events"]):
            self._recovered = True
        return answer

