"""The program add-on: a menu for the remote control, and the same as words for `RunScript(script.regent, WORD)`."""

import time

import xbmc
import xbmcaddon
import xbmcgui

import regent

from . import fonts, words
from .daemon import RegentError
from .kodi import ADDON, box

_ENTRIES = ("signIn", "signOut", "status", "settings")
_WORDS = {"sign-in": "signIn", "sign-out": "signOut", "status": "status", "settings": "settings"}


class Program:
    def __init__(self):
        self.language = fonts.language(xbmc.getLanguage(xbmc.ISO_639_1))
        self.dialog = xbmcgui.Dialog()

    def text(self, phrase, **values):
        return words.text(self.language, phrase, **values)

    def run(self, arguments):
        chosen = _WORDS.get(arguments[0]) if arguments else None
        if chosen:
            return self.perform(chosen)
        while True:
            index = self.dialog.select("Regent", [self.text(entry) for entry in _ENTRIES])
            if index < 0:
                return
            self.perform(_ENTRIES[index])

    def perform(self, entry):
        try:
            {"signIn": self.sign_in, "signOut": self.sign_out, "status": self.status, "settings": self.settings}[entry]()
        except (regent.Left, regent.Denied):
            pass  # The sign-in screen has already told the viewer.
        except RegentError as error:
            if error.code == "not-enrolled":
                self.dialog.ok("Regent", self.text("notEnrolled"))
                return self.settings()
            self.dialog.ok("Regent", f"{error.message}[CR]{error.hint or ''}")

    def sign_in(self):
        if box(enrols_again=True).status()["signedIn"]:
            return self.status()
        regent.sign_in()

    def sign_out(self):
        try:
            was = regent.sign_out()
        except RegentError as error:
            if error.code not in ("unreachable", "busy", "service"):
                raise
            return self.dialog.ok("Regent", self.text("signedOutLater"))
        self.dialog.ok("Regent", self.text("signedOut" if was else "notSignedIn"))

    def status(self):
        found = regent.status(ask=True)
        if not found["signedIn"]:
            return self.dialog.ok("Regent", self.text("problemAccountDisabled" if found.get("accountDisabled") else "notSignedIn"))
        date = time.strftime(xbmc.getRegion("dateshort"), time.localtime(found["expires"] / 1000))
        self.dialog.ok("Regent", self.text("signedInUntil", provider=found.get("providerName") or found["provider"], date=date))

    def settings(self):
        addon = xbmcaddon.Addon(ADDON)
        addon.openSettings()
        if xbmcaddon.Addon(ADDON).getSetting("code").strip():
            box(enrols_again=True)
            self.dialog.notification("Regent", self.text("enrolled"))


def main(arguments):
    Program().run(arguments)
