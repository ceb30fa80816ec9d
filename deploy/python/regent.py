"""Signs a box in and gets media tokens through its daemon, `regent daemon`. Needs only Python's standard library.

    from regent import Regent

    box = Regent()
    if not box.status()["signedIn"]:
        for event in box.pair():
            print(event)
    print(box.authorize("channel-1")["token"])

Each method makes a call on the daemon's socket (docs/socket.md) and returns its JSON document as a dictionary. It
raises RegentError when the daemon refuses the call or does not run. Several threads may use one Regent.
"""

import http.client
import json
import os
import socket
import sys

__all__ = ["Regent", "RegentError"]


class RegentError(Exception):
    """A refused call: `code` is an identifier for programs, `message` a sentence, `hint` what to do (or None).

    `exit` is the exit code of the `regent` command for the same error: 3 not signed in, 6 service unreachable, …
    """

    def __init__(self, code, message, hint=None, exit=1):
        super().__init__(f"{message}; {hint}" if hint else message)
        self.code, self.message, self.hint, self.exit = code, message, hint, exit


class Regent:
    """The daemon that listens on `path`; without it the user's own daemon if there is one, else the system's.

    `timeout` is in seconds; an authorization may wait half a minute for a provider.
    """

    def __init__(self, path=None, timeout=60):
        own = os.environ.get("XDG_RUNTIME_DIR")
        try:
            # After `su` without `-`, root still has this variable of another user. The socket there belongs to that
            # user, not to the caller's own agent.
            if own and os.stat(own).st_uid not in (0, os.geteuid()):
                own = None
        except OSError:
            pass
        path = path or os.environ.get("REGENT_AGENT_SOCKET")
        self.paths = [path] if path else [f"{own}/regent/agent.sock"] * bool(own) + ["/run/regent/agent.sock"]
        self.timeout = timeout

    def status(self):
        """The sign-in of this box: signedIn, requestor, provider, expires, …; deviceId if `header` is allowed."""
        return self._call("GET", "status")

    def providers(self):
        """The TV providers: a list of id, name and featured."""
        return self._call("GET", "providers")["providers"]

    def preauthorize(self, resources):
        """The resources among these that the viewer may watch; use it to mark lists, not to start playing."""
        return self._call("POST", "preauthorize", {"resources": list(resources)})["resources"]

    def authorize(self, resource, data=None):
        """A short media token for one resource: token, expires (epoch milliseconds), resource, provider.

        data: additional texts for the service, by name."""
        return self._call("POST", "authorize", {"resource": resource, **({"data": dict(data)} if data else {})})

    def metadata(self, key):
        """A fact that the provider gives about the viewer: zip, maxRating, …; None if it gives none."""
        return self._call("POST", "metadata", {"key": key})["value"]

    def header(self, method, path):
        """The value of the Authorization header for your own call to the service; docs/socket.md lists the calls."""
        return self._call("POST", "header", {"method": method, "path": path})["header"]

    def oauth_token(self, name, refused=None, url=None, method="GET", nonce=None):
        """A token of another service (`regent oauth`), valid for at least a minute: token, type, expires, scope.

        refused: a token that the service has refused; a new one is fetched instead. A token of type DPoP needs a proof
        for each call: name the call with url and method, and the result has `proof`, the value of its DPoP header."""
        body = {"name": name, "refused": refused, "url": url, "method": method if url else None, "nonce": nonce}
        return self._call("POST", "oauth/token", {key: value for key, value in body.items() if value is not None})

    def platform(self, requestor):
        """Whether this app may use the box's TV provider account: permission (granted, denied, undetermined), signedIn,
        and if granted provider, providerName, viewer and expires. A program that is not an app gets the error
        not-an-app."""
        return self._call("POST", "platform/status", {"requestor": requestor})

    def platform_access(self, requestor, prompt=False, wait=55):
        """As platform(); with `prompt` an undecided viewer is asked on the box, and the call waits for the answer."""
        prefer = {"Prefer": f"wait={int(wait)}"} if prompt else {}
        return self._call("POST", "platform/access", {"requestor": requestor, "prompt": prompt}, prefer)

    def platform_sign_out(self, requestor, wait=55):
        """Asks the viewer on the box to sign it out or to revoke this app's permission; returns the new platform()."""
        return self._call("POST", "platform/sign-out", {"requestor": requestor}, {"Prefer": f"wait={int(wait)}"})

    def platform_account(self, requestor, provider=None, profile_request=None):
        """The account. With a profile request of the service (base64) it has `assertion`, the box's answer to it."""
        body = {"requestor": requestor}
        if profile_request:
            body.update(provider=provider, profileRequest=profile_request)
        return self._call("POST", "platform/account", body)

    def platform_picker(self, requestor):
        """The contents of the platform's dialog: title and providers."""
        return self._call("POST", "platform/picker", {"requestor": requestor})

    def logout(self):
        """Signs the box out; returns whether it was signed in."""
        return self._call("POST", "logout", {})["wasSignedIn"]

    def pair(self, provider=None, force=False, number_matching=False, lifetime=None, wait=None, oauth=None):
        """Signs the box in. Yields the events of `regent pair --json` until the sign-in has ended.

        With `wait`, in seconds, it yields {"event": "waiting"} after each such time without another event, so that a
        program with one thread can check its keys. `lifetime` is the lifetime of a code in seconds. `oauth` signs in at
        that other service instead (`regent oauth list`). Leaving the loop withdraws the code.
        """
        order = {"force": force, "numberMatching": number_matching}
        if oauth:
            order["oauth"] = oauth
        if lifetime:
            order["lifetime"] = int(lifetime * 1000)
        begun = self._call("POST", "pair/begin", order)
        ask = {"id": begun["id"], "after": begun["after"]}
        if wait is not None:
            ask["wait"] = int(wait * 1000)
        choice = {"provider": provider} if provider else {}
        self._call("POST", "pair/code", {"id": begun["id"], "first": True, **choice})
        is_opened = False
        try:
            while True:
                news = self._call("POST", "pair/news", ask)
                ask["after"] = news["last"]
                if not news["events"] and wait is not None:
                    yield {"event": "waiting"}
                for happened in news["events"]:
                    kind = happened["event"]
                    is_opened = is_opened and kind != "code" or kind == "opened"
                    if kind == "withdrawn" and not is_opened:
                        self._call("POST", "pair/code", {"id": begun["id"], "first": False, **choice})
                        continue
                    event = _event(happened)
                    if event:
                        yield event
                    if kind in ("authenticated", "already", "denied", "expired", "withdrawn", "failed"):
                        return
        finally:
            try:
                self._call("POST", "pair/withdraw", {"id": begun["id"]})
            except RegentError:
                pass  # The daemon has already ended this pairing.

    def _call(self, method, name, body=None, more=None):
        failure = None
        for path in self.paths:
            connection = _Connection(path, self.timeout)
            try:
                headers = {"Content-Type": "application/json"} if body is not None else {}
                headers.update(more or {})
                connection.request(method, "/v1/" + name, json.dumps(body) if body is not None else None, headers)
                answer = connection.getresponse()
                status, text = answer.status, answer.read()
            except (FileNotFoundError, ConnectionRefusedError):
                continue
            except (OSError, http.client.HTTPException) as error:
                failure = RegentError("daemon", f"the daemon on {path} does not answer: {error}")
                break
            finally:
                connection.close()
            return _document(status, text)
        raise failure or RegentError(
            "no-daemon", "the daemon is not running: no program listens on " + " or ".join(self.paths), "start it: systemctl start regent.socket", 6)


class _Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def _document(status, text):
    if status == 503 and not text:
        raise RegentError("busy", "the daemon has too much to do", "try again in a few seconds")
    try:
        document = json.loads(text)
    except ValueError:
        raise RegentError("daemon", "the program on the socket is not a daemon of this version") from None
    if 200 <= status < 300:
        return document
    error = document.get("error") or {}
    raise RegentError(
        error.get("code", "failed"), error.get("message", f"status {status}"), error.get("hint"), error.get("exit", 1))


def _event(happened):
    """Converts an event of the socket to that of `regent pair --json`; None for an event that the latter does not
    have."""
    kind = happened["event"]
    if kind == "code":
        event = {name: happened[name] for name in ("event", "code", "display", "address", "expires")}
        return {**event, "url": happened["link"]}
    if kind == "already":
        return {**happened, "event": "authenticated"}
    if kind == "withdrawn":
        return {"event": "expired"}
    if kind in ("failed", "trouble"):
        failure = happened["failure"]
        return {"event": "error", **{name: failure[name] for name in ("code", "message", "hint") if name in failure}}
    return happened if kind in ("opened", "match", "authenticated", "denied", "expired") else None


def _hand_over():
    """Replaces this module by that of the Kodi add-on script.module.regent, for an add-on that requires it.

    Kodi 20 searches the system's folders before those of add-ons, so it finds this file first.
    """
    for place in sys.path:
        package = os.path.join(place, "regent")
        start = os.path.join(package, "__init__.py")
        if os.path.basename(os.path.dirname(place)) == "script.module.regent" and os.path.exists(start):
            from importlib import util
            found = util.spec_from_file_location("regent", start, submodule_search_locations=[package])
            module = sys.modules["regent"] = util.module_from_spec(found)
            found.loader.exec_module(module)
            return


# The add-on contains a copy of this file under another name, which must not replace itself.
if __name__ == "regent":
    _hand_over()
