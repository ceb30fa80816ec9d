"""Plays a stream of a service that the box is signed in at with OAuth: a Kodi add-on. See README.md beside it."""
import sys

import xbmc
import xbmcgui
from regent import Regent, RegentError

NAME, STREAM = sys.argv[1], sys.argv[2]


def sign_in(box):
    """Shows the code until the viewer has approved it on a phone. Returns whether the box is signed in then."""
    window = xbmcgui.DialogProgress()
    window.create("Sign in", "One moment")
    try:
        for event in box.pair(oauth=NAME, wait=1):
            if window.iscanceled():
                return False
            if event["event"] == "code":
                window.update(0, f"Open {event['address']} on a phone and enter {event['display']}")
            elif event["event"] == "error":
                window.update(0, event["message"])
            elif event["event"] == "authenticated":
                return True
        return False
    finally:
        window.close()


def play(box):
    token = box.oauth_token(NAME)
    xbmc.Player().play(f"{STREAM}|Authorization=Bearer%20{token['token']}")


try:
    box = Regent()
    try:
        play(box)
    except RegentError as error:
        if error.code != "not-signed-in":
            raise
        if sign_in(box):
            play(box)
except RegentError as error:
    xbmcgui.Dialog().ok(NAME, str(error))
