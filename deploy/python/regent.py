"""The box's daemon, `regent daemon`, for Python programs: its sign-in, its media tokens. Needs only the standard library.

    from regent import Regent

    box = Regent()
    if not box.status()["signedIn"]:
        for event in box.pair():
            print(event)
    print(box.authorize("channel-1")["token"])

Each call is one of the daemon's socket, described in docs/socket.md, and gives back its JSON document as a dictionary.
What the daemon refuses, and a daemon that is not there, is a RegentError. A Regent may be used from several threads.
"""

import http.client
import json
import os
import socket
import sys

__all__ = ["Regent", "RegentError"]


class RegentError(Exception):
    """A refusal: `code` is a word for programs, `message` a sentence, `hint` what to do (or None).

    `exit` is the exit code that the `regent` command has for it: 3 the box is not signed in, 6 the service is unreachable, …
    """

    def __init__(self, code, message, hint=None, exit=1):
        super().__init__(f"{message}; {hint}" if hint else message)
        self.code, self.message, self.hint, self.exit = code, message, hint, exit


class Regent:
    """The daemon on `path`; without one on the usual places, the user's own before the system's.

    `timeout` is in seconds: authorizing may take a provider half a minute.
    """

    def __init__(self, path=None, timeout=60):
        own = os.environ.get("XDG_RUNTIME_DIR")
        try:
            # Another user's folder, as root has it after `su` without `-`: who listens there is not the caller's agent.
            if own and os.stat(own).st_uid not in (0, os.geteuid()):
                own = None
        except OSError:
            pass
        path = path or os.environ.get("REGENT_AGENT_SOCKET")
        self.paths = [path] if path else [f"{own}/regent/agent.sock"] * bool(own) + ["/run/regent/agent.sock"]
        self.timeout = timeout

    def status(self):
        """Whether and how this box is signed in: signedIn, requestor, provider, providerName, expires, …; deviceId with `header`"""
        return self._call("GET", "status")

    def providers(self):
        """The TV providers: a list of id, name and featured."""
        return self._call("GET", "providers")["providers"]

    def preauthorize(self, resources):
        """Those of the resources that may be watched: for decorating lists, not for playing."""
        return self._call("POST", "preauthorize", {"resources": list(resources)})["resources"]

    def authorize(self, resource, data=None):
        """A short media token for one resource: token, expires (epoch milliseconds), resource, provider.

        data: texts by name that the service is told besides."""
        return self._call("POST", "authorize", {"resource": resource, **({"data": dict(data)} if data else {})})

    def metadata(self, key):
        """What the provider says of the viewer: zip, maxRating, …; None when it says nothing."""
        return self._call("POST", "metadata", {"key": key})["value"]

    def header(self, method, path):
        """The value of the Authorization header for a call of one's own at the service; docs/socket.md lists the calls."""
        return self._call("POST", "header", {"method": method, "path": path})["header"]

    def oauth_token(self, name, refused=None, url=None, method="GET", nonce=None):
        """A token of another service that is good for a minute or more (`regent oauth`): token, type, expires, scope.

        refused: a token that the service did not take, so that another one is fetched. A token of type DPoP needs a
        proof for each call: say which with url and method, and the answer has `proof`, the header DPoP of that call."""
        body = {"name": name, "refused": refused, "url": url, "method": method if url else None, "nonce": nonce}
        return self._call("POST", "oauth/token", {key: value for key, value in body.items() if value is not None})

    def platform(self, requestor):
        """How this app stands to the box's TV provider account: permission (granted, denied, undetermined), signedIn, and
        when it is granted provider, providerName, viewer and expires. A program that is no app gets not-an-app."""
        return self._call("POST", "platform/status", {"requestor": requestor})

    def platform_access(self, requestor, prompt=False, wait=55):
        """The same; with `prompt` the viewer is asked on the box if the viewer has not decided, and the answer is awaited."""
        prefer = {"Prefer": f"wait={int(wait)}"} if prompt else {}
        return self._call("POST", "platform/access", {"requestor": requestor, "prompt": prompt}, prefer)

    def platform_sign_out(self, requestor, wait=55):
        """Asks the viewer on the box to sign it out, or to take its account from this app: what platform() says then."""
        return self._call("POST", "platform/sign-out", {"requestor": requestor}, {"Prefer": f"wait={int(wait)}"})

    def platform_account(self, requestor, provider=None, profile_request=None):
        """The account; with the service's profile request (base64) also `assertion`, the box's answer to it."""
        body = {"requestor": requestor}
        if profile_request:
            body.update(provider=provider, profileRequest=profile_request)
        return self._call("POST", "platform/account", body)

    def platform_picker(self, requestor):
        """What the platform's dialog lists: title and providers."""
        return self._call("POST", "platform/picker", {"requestor": requestor})

    def logout(self):
        """Signs the box out; returns whether it was signed in."""
        return self._call("POST", "logout", {})["wasSignedIn"]

    def pair(self, provider=None, force=False, number_matching=False, lifetime=None, wait=None, oauth=None):
        """Signs the box in: the events of it, as `regent pair --json` prints them, until it has ended.

        With `wait`, in seconds, {"event": "waiting"} comes whenever that long nothing else did: a program of one thread
        can look at its keys. `lifetime` is that of a code, in seconds. `oauth` signs in at that other service instead
        (`regent oauth list`). Whoever leaves the loop takes the code back.
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
                pass  # The daemon has given it up already.

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
    """An event of the socket in the words of `regent pair --json`; None for what a launcher has no use for."""
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
    """Puts the module of the Kodi add-on script.module.regent in this one's place for an add-on that requires it.

    Kodi 20 has the system's folders before those of add-ons in its path, so it finds this file first.
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


# The add-on has a copy of this file under another name.
if __name__ == "regent":
    _hand_over()
