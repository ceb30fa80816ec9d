"""One sign-in with a registration code: gets a code, waits for the phone, and yields what happens as events."""

import re
import time
import urllib.parse

from .daemon import RegentError
from .wire import Cancelled, Failure, moment, unreadable

# In seconds: the longest long poll, the interval of a plain poll, the longest pause between retries, and how long the
# service may be unreachable (as during a restart) before the viewer is told.
_HELD, _POLL, _LONGEST_PAUSE, _SILENCE = 50, 3, 60, 6
_ENDS = {"denied": "denied", "expired": "expired"}
# How many codes are shown one after the other, if the service withdraws each before a phone opens it.
_REPLACEMENTS = 3
# No character that browsers and `urlsplit` read differently: a browser takes `http://evil.example\@host/` for
# evil.example, `urlsplit` takes it for host.
_ADDRESS = r"(?i:https?)://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~/%=&-]*)?(\?[A-Za-z0-9._~/%=&-]*)?"


def events(box, number_matching, force, lifetime):
    """Yields the events of a sign-in, as dictionaries, until it has ended; `box` is a Service."""
    with box.storage.locked("pairing", 0):
        try:
            yield from _Pairing(box, number_matching, lifetime).run(force)
        except Cancelled:
            _take_back(box)


def _take_back(box):
    """Withdraws the code, so that a phone cannot approve it for a viewer who has left."""
    pending = box.state().get("pending")
    if not pending or box.keeps_code:
        return
    caller = box.caller()
    caller.line.resume()
    try:
        caller.call("DELETE", _path(caller, pending["code"]), [("deviceId", caller.device)], timeout=3)
    except Failure:
        pass  # The code then expires by itself.
    box.note(pending=None)


def _path(caller, code=None):
    path = f"/reggie/v1/{urllib.parse.quote(caller.requestor, safe='')}/regcode"
    return f"{path}/{urllib.parse.quote(code, safe='')}.json" if code else path + ".json"


class _Pairing:
    def __init__(self, box, number_matching, lifetime):
        self.box, self.caller, self.number_matching, self.lifetime = box, box.caller(), number_matching, lifetime
        self.held = _HELD
        self.away_since = self.told = None
        self.failures = 0

    def run(self, force):
        if force:
            self.box.note(pending=None)
        yield from self._trying(self.box.tell_sign_out)
        error = self.box.obstacle()
        if error:
            yield {"event": "error", "code": error.code, "message": error.message, "hint": error.hint}
        record = yield from self._earlier()
        for _ in range(_REPLACEMENTS):
            if record is None:
                record = yield from self._trying(self._new)
            was_opened = yield from self._watch(record)
            if was_opened is not None:
                return
            record = None
        self.box.note(pending=None)
        yield {"event": "expired"}

    # The code

    def _earlier(self):
        """The record of the code that was shown before a kill, if it can still be used."""
        pending = self.box.state().get("pending")
        if not pending or pending["expires"] <= self.caller.line.clock.now() * 1000:
            return None
        def read():
            answer = self.caller.call("GET", _path(self.caller, pending["code"]), [("deviceId", self.caller.device)])
            if answer.status in (403, 404, 410):
                return None
            return self._record(answer)
        record = yield from self._trying(read)
        return record if record and record.get("state") not in ("denied", "expired", "withdrawn") else None

    def _new(self):
        form = [("deviceId", self.caller.device)]
        if self.number_matching:
            form.append(("match", "number"))
        if self.lifetime:
            form.append(("ttl", str(int(self.lifetime))))
        record = self._record(self.caller.call("POST", _path(self.caller), form=form), (200, 201))
        self._shown(record)
        self.box.note(pending={"code": record["code"], "expires": record["expires"]})
        return record

    def _record(self, answer, good=(200,)):
        record = answer.document
        if answer.status not in good or not isinstance(record, dict):
            raise self.caller.line.failure(answer)
        record["expires"], match = moment(record, "expires"), record.get("match")
        if not re.fullmatch("[0-9A-Z]{1,64}", str(record.get("code"))) or not re.fullmatch("None|[0-9]{1,9}", str(match)):
            raise unreadable(answer.status)
        record["code"] = str(record["code"])
        record["held"] = answer.was_held
        return record

    def _shown(self, record):
        """The event of a code. An address at another host is refused: the TV would show a link to a phishing page."""
        page, link = record.get("verificationURL") or "", record.get("verificationURLComplete") or ""
        known = self.box.storage.read("credentials.json")
        hosts = {urllib.parse.urlsplit(known[name]).hostname for name in ("service", "public")} - {None}
        for address in (page, link):
            is_plain = isinstance(address, str) and len(address) <= 512 and re.fullmatch(_ADDRESS, address)
            place = urllib.parse.urlsplit(address if is_plain else "")
            if place.hostname not in hosts or place.scheme not in (
                    ("https",) if self.caller.line.scheme == "https" else ("http", "https")):
                raise RegentError("foreign-address", "the service named an address on another host, which is not shown", None, 1)
        left = record["expires"] / 1000 - self.caller.line.clock.now()
        # A remaining time below a second or above ten hours means that the device's clock is wrong. Then half an hour is
        # assumed; the service reports when the code has expired.
        left = left if 1 <= left <= 36000 else 1800
        code = record["code"]
        return {
            "event": "code", "code": code, "display": f"{code[:4]}-{code[4:]}" if len(code) == 8 else code, "url": link,
            "address": re.sub("^https://", "", page).rstrip("/"), "expires": record["expires"], "seconds": left}

    # Waiting

    def _watch(self, record):
        """Yields a code's events until it has ended; returns None if the service withdrew it before it was opened."""
        shown = self._shown(record)
        end = time.monotonic() + shown["seconds"]
        if record.get("state") not in ("approved", "delivered"):
            yield shown
        opened, match, quick, sequence = False, None, 8, -1
        while True:
            state = record.get("state")
            if state in ("approved", "delivered"):
                yield from self._trying(self._fetch)
                signed_in = self.box.state().get("signedIn") or {}
                yield {"event": "authenticated", "provider": signed_in.get("providerName")}
                return True
            if state in _ENDS:
                self.box.note(pending=None)
                yield {"event": _ENDS[state], "opened": opened}
                return True
            if state == "withdrawn":
                return True if (yield from self._given_up(opened)) else None
            if state in ("opened", "claimed") and (not opened or record.get("match") != match):
                opened, match = True, record.get("match")
                yield {"event": "match", "number": int(match)} if match is not None else {"event": "opened"}
            is_news, sequence = record.get("sequence") != sequence, record.get("sequence")
            if not record["held"] and not (is_news and quick > 0):
                self._rest(_POLL)
                quick = 8
            quick -= is_news
            try:
                answer = self._news(record["code"], sequence)
                if answer.status in (403, 404, 410) and self.caller.line.failure(answer).code == "service":
                    # The code no longer exists, perhaps because it was used. The sign-in itself then shows the
                    # outcome.
                    return (yield from self._gone(answer, opened))
                record = self._record(answer)
                yield from self._recovered()
            except Failure as failure:
                record["held"] = True  # The code below pauses by itself, or needs no pause.
                if self._shortens(failure):
                    continue
                if time.monotonic() >= end:
                    self.box.note(pending=None)
                    yield {"event": "expired", "opened": opened}
                    return True
                yield from self._away(failure)

    def _news(self, code, sequence):
        self.asked = time.monotonic()
        query = [("deviceId", self.caller.device)]
        if self.failures:
            # Not a long poll, because the screen would show "no connection" until it ends.
            return self.caller.call("GET", _path(self.caller, code), query, timeout=10)
        return self.caller.call(
            "GET", _path(self.caller, code), query + [("after", str(max(sequence or 0, 0)))], prefer=self.held, timeout=15)

    def _shortens(self, failure):
        """Shortens the long polls, silently, when a proxy ended one before the service answered."""
        took = time.monotonic() - self.asked
        is_said = failure.status in (504, 408)
        if self.failures or not (is_said and took >= 2 or failure.code == "unreachable" and 3 <= took < self.held):
            return False
        shorter = max(1 if is_said else 3, int(min(took, self.held) * 3 / 4))
        if shorter >= self.held:
            return False
        self.held = shorter
        return True

    def _given_up(self, opened):
        self.box.note(pending=None)
        if opened:
            yield {"event": "expired", "opened": True}
        return opened

    def _gone(self, answer, opened):
        details = answer.document.get("details") if isinstance(answer.document, dict) else None
        if answer.status == 403 and details == "denied":
            self.box.note(pending=None)
            yield {"event": "denied", "opened": opened}
            return True
        try:
            yield from self._trying(self._fetch_another)
        except Failure as failure:
            if failure.status not in (403, 404, 410, 412):
                raise
            self.box.note(pending=None)
            if answer.status == 404 and not opened:
                return None
            yield {"event": "denied" if failure.details == "denied" else "expired", "opened": opened}
            return True
        yield {"event": "authenticated", "provider": self.box.state()["signedIn"]["providerName"]}
        return True

    def _fetch_another(self):
        """As `_fetch`, but refuses the sign-in from before this code, because the viewer waits for a new one."""
        self._fetch(self.box.state().get("signedIn"))

    def _fetch(self, earlier=None):
        answer = self.caller.call(
            "GET", "/api/v1/tokens/authn.json", [("requestor", self.caller.requestor), ("deviceId", self.caller.device)])
        if answer.status != 200:
            raise self.caller.line.failure(answer)
        found = answer.document
        if earlier and (found.get("mvpd"), moment(found, "expires")) == (earlier["provider"], earlier["expires"]):
            raise Failure("service", "there is only the earlier sign-in", status=404)
        self.box.keep(found)

    # A service that is away

    def _trying(self, call):
        """Returns the call's result. While the service is unreachable it retries ever less often and yields events."""
        while True:
            if self.box.is_leaving:
                raise Cancelled()
            try:
                result = call()
            except Failure as failure:
                if not failure.passes:
                    raise
                yield from self._away(failure)
                continue
            yield from self._recovered()
            return result

    def _away(self, failure):
        self.away_since = self.away_since or time.monotonic()
        is_quiet = failure.code in ("unreachable", "service") and time.monotonic() - self.away_since < _SILENCE
        if self.told != failure.code and not is_quiet:
            self.told = failure.code
            yield {"event": "error", "code": failure.code, "message": failure.message, "hint": failure.hint,
                   "host": failure.host, "seconds": failure.retry}
        self.failures += 1
        self._rest(min(max(failure.retry or 0, 2 ** min(self.failures - 1, 6)), _LONGEST_PAUSE))

    def _recovered(self):
        self.failures, self.away_since = 0, None
        if self.told:
            self.told = None
            yield {"event": "recovered"}

    def _rest(self, seconds):
        self.box.pause(seconds)
        if self.box.is_leaving:
            raise Cancelled()
