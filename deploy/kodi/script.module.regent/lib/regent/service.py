"""This device as a client of the service, without a daemon: enrolled by a code, calls signed with its own key pair."""

import os
import threading

from . import enrolment, pairing
from .daemon import RegentError
from .wire import Caller, Failure, Line, moment, unreadable

_IDENTITY, _CREDENTIALS, _STATE = "identity.json", "credentials.json", "sign-in.json"
_NOT_SIGNED_IN = ("User not Authenticated", "User not authenticated", "Authentication token expired")
_ACCOUNT_DISABLED = "the account is disabled at the provider: signing in again will not help"


class Service:
    """The sign-in and the tokens of this device; `storage` keeps them, `information` describes the device."""

    via = "service"

    def __init__(self, storage, information=None):
        self.storage = storage
        self.information = {"primaryHardwareType": "SetTopBox", "model": "Kodi", "osName": "Linux", **(information or {})}
        self._stop = threading.Event()
        self._caller = None

    # Enrolment

    @property
    def is_enrolled(self):
        return self._credentials() is not None

    def enrol(self, text):
        """Redeems `ADDRESS#CODE`, or CODE alone at the known service. May be repeated after a kill."""
        known = self._credentials()
        address, letters = enrolment.parse(text)
        address = address or (known or {}).get("service")
        if not address:
            raise RegentError("address", "the code has no address before it", "use the form https://tv.example.org#CODE", 2)
        identity, key = bytes.fromhex(self._identity()["enrolment"]), enrolment.Key(letters)
        mark = key.box(identity).hex()
        if known and known.get("code") == mark and known["service"] == address:
            return
        body, message = key.request(identity)
        line = Line(address)
        answer = line.send("POST", "/o/box/enrol", body, {"Content-Type": "application/json"}, timeout=20)
        if answer.status != 200:
            raise _refusal(line, answer)
        grant = key.opened(answer.document, message)
        # `service` is the address that the viewer typed. `public` comes from the service, and is the address that
        # phones open.
        self.storage.write(_CREDENTIALS, {
            "version": 1, "service": address, "public": grant["service"], "requestor": grant["requestor"],
            "publicKey": grant["publicKey"], "secret": grant["secret"], "code": mark})
        if known and (known["service"], known["requestor"]) != (address, grant["requestor"]):
            self.storage.remove(_STATE)
        self._caller = None

    def _identity(self):
        found = self.storage.read(_IDENTITY)
        if not found or len(found.get("device", "")) != 64 or len(found.get("enrolment", "")) != 64:
            # Random, because Android has no /etc/machine-id, and so that other services cannot recognize the device
            # by it.
            found = {"version": 1, "device": os.urandom(32).hex(), "enrolment": os.urandom(32).hex()}
            self.storage.write(_IDENTITY, found)
        return found

    def _credentials(self):
        found = self.storage.read(_CREDENTIALS)
        needed = ("service", "public", "requestor", "publicKey", "secret")
        return found if found and all(isinstance(found.get(name), str) for name in needed) else None

    # Calls

    def caller(self):
        known = self._credentials()
        if known is None:
            raise RegentError("not-enrolled", "this device is not enrolled", "enter an enrolment code in the settings", 1)
        if self._caller is None or self._caller.line.address != known["service"]:
            self._caller = Caller(
                Line(known["service"]), known["requestor"], known["publicKey"], known["secret"], self._identity()["device"],
                self.information)
        return self._caller

    def _ask(self, path, **query):
        caller = self.caller()
        names = {"requestor": caller.requestor, "deviceId": caller.device, **query}
        answer = caller.call("GET", path, list(names.items()))
        if answer.status == 200 and isinstance(answer.document, dict):
            self._accepted()
            return answer.document
        failure = caller.line.failure(answer)
        if _means_not_signed_in(answer):
            raise self._refused(answer)
        if failure.code == "service" and answer.status == 403:
            raise RegentError("not-authorized", failure.details or failure.message, None, 4)
        raise failure

    # The sign-in

    def state(self):
        """The stored state: signedIn, accountDisabled, pending and signOut, each if present."""
        return self.storage.read(_STATE) or {}

    def note(self, **changes):
        with self.storage.locked("state", 20):
            state = {**self.state(), **changes}
            self.storage.write(_STATE, {name: value for name, value in state.items() if value is not None})

    def status(self):
        """The status without a call: signedIn, requestor, and with a sign-in provider, providerName and expires.

        accountDisabled is true when the device is not signed in because its account is disabled."""
        caller, known = self.caller(), self._valid()
        if not known:
            return {"signedIn": False, "requestor": caller.requestor}
        if self.state().get("accountDisabled"):
            return {"signedIn": False, "requestor": caller.requestor, "accountDisabled": True}
        return {"signedIn": True, "requestor": caller.requestor, **known}

    def _valid(self):
        """The stored sign-in if it has not expired; also while its account is disabled."""
        known = self.state().get("signedIn")
        return known if known and known["expires"] > self.caller().line.clock.now() * 1000 else None

    def refresh(self):
        """The status after a call to the service."""
        caller = self.caller()
        answer = caller.call("GET", "/api/v1/tokens/authn.json", self._whose(caller))
        if answer.status == 200 and isinstance(answer.document, dict):
            if not self.state().get("signOut"):
                self.keep(answer.document)
        else:
            failure = caller.line.failure(answer)
            if answer.status not in (403, 404, 410, 412) or failure.code != "service":
                raise failure
            self._refused(answer)
        return self.status()

    def keep(self, document):
        """Stores a sign-in of the service; it is on the disk when this returns."""
        expires, provider = moment(document, "expires"), str(document.get("mvpd") or "")
        self.note(pending=None, signOut=None, accountDisabled=None, signedIn={
            "provider": provider, "providerName": self._name(provider), "expires": expires})

    def _name(self, provider):
        """The display name of the provider, or its id if the list of providers is not available."""
        known = self.state().get("signedIn") or {}
        if known.get("provider") == provider and known.get("providerName"):
            return known["providerName"]
        try:
            caller = self.caller()
            answer = caller.call("GET", f"/api/v1/config/{caller.requestor}.json", [("deviceId", caller.device)], timeout=5)
            for one in answer.document["requestor"]["mvpds"]:
                if one.get("id") == provider:
                    return one.get("displayName") or provider
        except (Failure, AttributeError, KeyError, TypeError):
            pass
        return provider

    @staticmethod
    def _whose(caller):
        return [("requestor", caller.requestor), ("deviceId", caller.device)]

    def pair(self, number_matching=False, force=False, lifetime=None):
        """Signs this device in; yields the events of `regent pair --json`, and {"event": "recovered"}, until it has
        ended.

        `force` makes a new code instead of showing an earlier one again; `lifetime` is that of a code in seconds.
        Another thread can end it with `leave`."""
        self._stop.clear()
        self.caller().line.resume()
        return pairing.events(self, number_matching, force, lifetime)

    def leave(self, keeps_code=False):
        """Ends `pair` from another thread. The code is withdrawn, unless `keeps_code` keeps it for the next start."""
        self.keeps_code = keeps_code
        self._stop.set()
        self.caller().line.cancel()

    keeps_code = False

    @property
    def is_leaving(self):
        return self._stop.is_set()

    def pause(self, seconds):
        self._stop.wait(seconds)

    def sign_out(self):
        """Signs out here, then at the service; returns whether the device was signed in.

        If the service is unreachable the device is signed out all the same, and the service is told before the next
        sign-in."""
        was = self.status()["signedIn"]
        self.note(signedIn=None, accountDisabled=None, pending=None, signOut=True)
        self.tell_sign_out()
        return was

    def tell_sign_out(self):
        if not self.state().get("signOut"):
            return
        caller = self.caller()
        answer = caller.call("DELETE", "/api/v1/logout", self._whose(caller))
        if answer.status >= 300 and answer.status not in (403, 404, 410, 412):
            raise caller.line.failure(answer)
        self.note(signOut=None)

    # Authorization

    def media_token(self, resource):
        self._needs_sign_in()
        self._ask("/api/v1/authorize.json", resource=resource)
        token = self._ask("/api/v1/tokens/media.json", resource=resource).get("serializedToken")
        if not isinstance(token, str):
            raise unreadable()
        return token

    def preauthorize(self, resources):
        self._needs_sign_in()
        resources = list(resources)
        caller = self.caller()
        query = self._whose(caller) + [("resource", one) for one in resources]
        # A single resource name may contain a comma. An additional empty parameter tells the service that it is not a
        # comma-separated list.
        answer = caller.call("GET", "/api/v1/preauthorize.json", query + [("resource", "")] * (len(resources) == 1))
        if answer.status != 200:
            if _means_not_signed_in(answer):
                raise self._refused(answer)
            raise caller.line.failure(answer)
        self._accepted()
        try:
            return [one["id"] for one in answer.document.get("resources") or [] if one.get("authorized")]
        except (AttributeError, KeyError, TypeError):
            raise unreadable() from None

    def _needs_sign_in(self):
        if not self._valid():
            raise not_signed_in()

    def _refused(self, answer):
        """Forgets the sign-in that the service refuses; returns the error to raise.

        A sign-in whose account is disabled is kept, because the service accepts it again when the account is enabled."""
        document = answer.document if isinstance(answer.document, dict) else {}
        if document.get("details") == _ACCOUNT_DISABLED and self._valid():
            self.note(accountDisabled=True)
            return account_disabled()
        self.note(signedIn=None, accountDisabled=None)
        return not_signed_in()

    def obstacle(self):
        """The error of a device whose account is disabled, otherwise None. A code may be used all the same: the viewer
        may sign in with another account."""
        return account_disabled() if self.status().get("accountDisabled") else None

    def _accepted(self):
        if self.state().get("accountDisabled"):
            self.note(accountDisabled=None)


def not_signed_in():
    return RegentError("not-signed-in", "this device is not signed in", "sign in first", 3)


def account_disabled():
    return RegentError(
        "not-signed-in", "not signed in: the account is disabled at the provider",
        "ask the TV provider to enable the account, or sign in with another account", 3)


def _means_not_signed_in(answer):
    document = answer.document if isinstance(answer.document, dict) else {}
    code = document.get("code") or answer.headers.get("AP-Decision-Reason") or ""
    if code:
        return code.startswith("authentication_session") or code == "preauthorization_authentication_session_missing"
    return answer.status == 412 or answer.status == 403 and document.get("message") in _NOT_SIGNED_IN


def _refusal(line, answer):
    if answer.status == 403:
        return RegentError(
            "enrolment-code", "this code is wrong, used or expired",
            "codes end after an hour and work once: ask for a new one with regentctl requestor invite", 1)
    if answer.status == 429:
        return RegentError("busy", "too many wrong codes from this address", "wait ten minutes, then enter a new code", 6)
    return line.failure(answer)
