"""The sign-in screen: the code, the QR code, the time left, and what happens on the phone."""

import os
import threading
import time

import xbmc
import xbmcgui
import xbmcvfs

from . import Denied, Left, fonts, picture
from .daemon import RegentError
from .screen import Screen
from .wire import Cancelled

_BACK = (9, 10, 92, 110)  # parent folder, previous menu, back, and "back" on the remote control while a video plays
_QR, _CODE, _NUMBER = 100, 101, 102
_TITLE, _SCAN, _ADDRESS, _ENTER, _STATUS, _COUNTDOWN = 110, 111, 112, 113, 114, 115
_NEW, _QUIT = 120, 121
# In pixels: the side of the QR code, in a skin of 1080 lines.
_QR_SIZE = 840
# How long "signed in" stays on the screen, in seconds.
_FAREWELL = 1.5


def sign_in(box, folder, force, number_matching):
    """Shows the screen until the sign-in has ended; raises Left, Denied or the error that ended it."""
    language = fonts.language(xbmc.getLanguage(xbmc.ISO_639_1))
    window = SignIn("regent-sign-in.xml", folder, "Default", "1080i")
    window.begin(box, Screen(language), force, number_matching)
    window.doModal()
    try:
        window.finish()
    finally:
        del window


class SignIn(xbmcgui.WindowXMLDialog):
    def begin(self, box, screen, force, number_matching):
        self.box, self.screen, self.force, self.number_matching = box, screen, force, number_matching
        self.lock, self.asks, self.is_over = threading.Lock(), threading.Event(), threading.Event()
        self.failure, self.shown, self.pictures = None, None, []
        self.threads, self.is_aborted = [], False
        self.folder = xbmcvfs.translatePath("special://temp/")
        for name in os.listdir(self.folder):
            if name.startswith("regent-") and name.endswith(".png"):
                os.remove(os.path.join(self.folder, name))  # left by a Kodi that was killed

    def onInit(self):
        if self.threads:
            return  # Kodi calls this again when the window returns to the front.
        self.getControl(_TITLE).setLabel(self.screen.text("title"))
        self.getControl(_SCAN).setLabel(self.screen.text("scan"))
        self.getControl(_ENTER).setLabel(self.screen.text("enterCode"))
        self.getControl(_NEW).setLabel(self.screen.text("keyNew"))
        self.getControl(_QUIT).setLabel(self.screen.text("keyQuit"))
        self.draw()
        self.threads = [threading.Thread(target=self.work), threading.Thread(target=self.tick)]
        for thread in self.threads:
            thread.start()

    # The viewer

    def onAction(self, action):
        if action.getId() in _BACK:
            self.leave()

    def onClick(self, control):
        if control == _QUIT:
            self.leave()
        elif control == _NEW and self.screen.may_ask_again:
            self.force = True
            self.asks.set()
            if self.screen.stage == "waiting":
                # The service withdraws the old code when the new one is made, so it is not withdrawn here.
                self.box.leave(keeps_code=True)

    def leave(self):
        self.is_over.set()
        self.asks.set()
        self.box.leave()
        self.close()

    def abort(self):
        """Ends because Kodi exits; the code is kept for the next start. Closing the window here would deadlock with
        Kodi."""
        self.is_aborted = True
        self.is_over.set()
        self.asks.set()
        self.box.leave(keeps_code=True)

    # Threads

    def work(self):
        """Runs pairings one after another, each when the viewer asks for it."""
        try:
            while not self.is_over.is_set():
                self.asks.clear()
                try:
                    for event in self.box.pair(self.number_matching, self.force):
                        self.screen.handle(event, time.monotonic())
                        self.draw()
                        if event["event"] == "authenticated":
                            self.is_over.wait(_FAREWELL)
                            return
                except Cancelled:
                    pass
                except RegentError as error:
                    self.failure = error
                    self.screen.fail(error)
                    self.draw()
                self.asks.wait()
                if not self.is_over.is_set():
                    self.failure = None
                    self.screen = Screen(self.screen.language)
        except Exception as error:  # Otherwise the window would stay open for ever.
            self.failure = error
        finally:
            self.is_over.set()
            if not self.is_aborted:
                self.close()

    def tick(self):
        """Updates the countdown, and aborts when Kodi exits."""
        monitor = xbmc.Monitor()
        while not self.is_over.is_set():
            if monitor.waitForAbort(0.5):
                return self.abort()
            self.draw_time()

    def finish(self):
        """Waits for the threads, removes the pictures and raises the error that ended the sign-in."""
        if not self.is_over.is_set():
            self.abort()  # This module did not close the window, so Kodi is exiting.
        for thread in self.threads:
            thread.join(10)
        for path in self.pictures:
            if os.path.exists(path):
                os.remove(path)
        if self.screen.stage == "signed-in":
            return
        if self.screen.stage.startswith("denied"):
            raise Denied()
        raise self.failure or Left()

    # Drawing

    def draw(self):
        with self.lock:
            screen = self.screen
            if screen.code and screen.code["url"] != self.shown:
                self.shown = screen.code["url"]
                self.set_picture(_QR, picture.qr_code(self.shown, _QR_SIZE))
                self.set_picture(_CODE, picture.word(screen.code["display"], 14))
            if screen.number is not None:
                self.set_picture(_NUMBER, picture.word(str(screen.number), 30))
            is_number = screen.stage == "number"
            for control in (_QR, _SCAN):
                self.getControl(control).setVisible(screen.shows_code and not is_number)
            self.getControl(_NUMBER).setVisible(is_number)
            for control in (_CODE, _ENTER, _ADDRESS):
                self.getControl(control).setVisible(screen.shows_code)
            if screen.shows_code:
                self.getControl(_ADDRESS).setLabel(screen.text("orOpen") + " [B]" + screen.code["address"] + "[/B]")
            self.getControl(_STATUS).setText("\n".join(screen.lines))
            self.getControl(_NEW).setEnabled(screen.may_ask_again)
        self.draw_time()

    def draw_time(self):
        self.getControl(_COUNTDOWN).setLabel(self.screen.countdown(time.monotonic()))

    def set_picture(self, control, content):
        """Shows a picture from a new file each time, because Kodi caches pictures by their names."""
        path = os.path.join(self.folder, f"regent-{os.getpid()}-{int(time.time() * 1000)}-{len(self.pictures)}.png")
        picture.write(path, content)
        self.pictures.append(path)
        self.getControl(control).setImage(path, False)
