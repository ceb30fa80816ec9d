"""Plays a channel that needs a TV provider: a Kodi add-on of 40 lines. See README.md beside it."""
import sys
import urllib.parse

import xbmc
import xbmcgui
from regent import Regent, RegentError

CHANNEL, STREAM = sys.argv[1], sys.argv[2]


def sign_in(box):
    """Shows the code until the viewer has approved it on a phone. Returns whether the box is signed in then."""
    window = xbmcgui.DialogProgress()
    window.create("Sign in", "One moment")
    try:
        for event in box.pair(wait=1):
            if window.iscanceled():
                return False
            if event["event"] == "code":
                window.update(0, f"Open {event['address']} on a phone and enter {event['display']}")
            elif event["event"] == "opened":
                window.update(50, "Go on with the phone")
            elif event["event"] == "error":
                window.update(0, event["message"])
            elif event["event"] == "authenticated":
                return True
        return False
    finally:
        window.close()


try:
    box = Regent()
    if box.status()["signedIn"] or sign_in(box):
        token = box.authorize(CHANNEL)["token"]
        # Kodi decodes what stands behind the bar: a plain + of base64 would arrive as a space.
        xbmc.Player().play(f"{STREAM}|X-Media-Token={urllib.parse.quote(token, safe='')}")
except RegentError as error:
    xbmcgui.Dialog().ok("TV provider", str(error))
