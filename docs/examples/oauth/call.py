"""Calls an API as the box is signed in there: call.py NAME URL. Needs the daemon and regent.py. See README.md beside it."""
import sys
import urllib.error
import urllib.request

from regent import Regent, RegentError

NAME, URL = sys.argv[1], sys.argv[2]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """urllib would send the token along to the address that a redirect names, on another host too."""

    def redirect_request(self, *_):
        return None


API = urllib.request.build_opener(NoRedirect)


def call(token):
    """The API's answer. The token goes to that address and nowhere else: a redirect is an error."""
    headers = {"Authorization": f"{token['type']} {token['token']}"}
    if "proof" in token:
        headers["DPoP"] = token["proof"]
    with API.open(urllib.request.Request(URL, headers=headers), timeout=30) as answer:
        return answer.read().decode()


def called(box, token):
    """The same; an API that asks for its nonce (RFC 9449), as Regent does for a minute after a start, gets it."""
    try:
        return call(token)
    except urllib.error.HTTPError as error:
        nonce = error.headers["DPoP-Nonce"]
        if error.code != 401 or nonce is None or "use_dpop_nonce" not in error.headers.get("WWW-Authenticate", ""):
            raise
        return call(box.oauth_token(NAME, url=URL, nonce=nonce))


def signed_in(box, refused=None):
    """A token; on a box that is not signed in, the code is shown first, until a viewer has approved it on a phone."""
    try:
        return box.oauth_token(NAME, url=URL, refused=refused)
    except RegentError as error:
        if error.code != "not-signed-in":
            raise
    for event in box.pair(oauth=NAME):
        if event["event"] == "code":
            print(f"open {event['address']} and enter {event['display']}", file=sys.stderr)
    return box.oauth_token(NAME, url=URL)


try:
    box = Regent()
    token = signed_in(box)
    try:
        print(called(box, token))
    except urllib.error.HTTPError as error:
        if error.code != 401:
            raise
        print(called(box, signed_in(box, refused=token["token"])))
except (RegentError, OSError) as error:
    sys.exit(str(error))
