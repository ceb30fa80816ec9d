"""A screen without a monitor (Xvfb), with a mouse and a keyboard.

Input events come from the X server itself, so that no driver waits for a page between two clicks, and a key that is
held down repeats.
"""

import ctypes
import os
import subprocess
import time

# Without these functions Xlib ends the whole process when its server is gone.
QUIET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda _: 0)
STAY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: None)


class Display:
    """Its own X server, so that a browser cannot take the keyboard focus from another."""

    def __init__(self, width=600, height=1000):
        read, write = os.pipe()
        self.server = None
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
            pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            self.name = f":{number.readline().strip()}"
        if self.name == ":":
            raise SystemExit("Xvfb did not start; run deploy/bootstrap --pages")
        self.x11, self.test = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        pointer, number = ctypes.c_void_p, ctypes.c_ulong
        self.x11.XOpenDisplay.restype, self.x11.XOpenDisplay.argtypes = pointer, [ctypes.c_char_p]
        self.x11.XStringToKeysym.restype, self.x11.XStringToKeysym.argtypes = number, [ctypes.c_char_p]
        self.x11.XKeysymToKeycode.restype, self.x11.XKeysymToKeycode.argtypes = ctypes.c_ubyte, [pointer, number]
        self.x11.XFlush.argtypes = self.x11.XCloseDisplay.argtypes = [pointer]
        self.x11.XSync.argtypes = [pointer, ctypes.c_int]
        self.test.XTestFakeKeyEvent.argtypes = [pointer, ctypes.c_uint, ctypes.c_int, number]
        self.test.XTestFakeButtonEvent.argtypes = [pointer, ctypes.c_uint, ctypes.c_int, number]
        self.test.XTestFakeMotionEvent.argtypes = [pointer, ctypes.c_int, ctypes.c_int, ctypes.c_int, number]
        self.server = self.x11.XOpenDisplay(self.name.encode())
        if not self.server:
            raise SystemExit(f"Xvfb {self.name} accepts no client")
        self.x11.XSetIOErrorHandler.argtypes = [ctypes.c_void_p]
        self.x11.XSetIOErrorHandler(ctypes.cast(QUIET, ctypes.c_void_p))
        self.x11.XSetIOErrorExitHandler.argtypes = [pointer, ctypes.c_void_p, pointer]
        self.x11.XSetIOErrorExitHandler(self.server, ctypes.cast(STAY, ctypes.c_void_p), None)

    def click(self, x, y, seconds):
        """Presses the left button here for this time; returns when it was pressed and released, in seconds since 1970."""
        self.test.XTestFakeMotionEvent(self.server, 0, int(x), int(y), 0)
        return self.press(self.test.XTestFakeButtonEvent, 1, seconds)

    def hold(self, key, seconds):
        """Presses a key, named as in keysymdef.h, for this time."""
        code = self.x11.XKeysymToKeycode(self.server, self.x11.XStringToKeysym(key.encode()))
        self.press(self.test.XTestFakeKeyEvent, code, seconds)

    def press(self, event, code, seconds):
        event(self.server, code, 1, 0)
        # The X server has stamped the event when this returns.
        self.x11.XSync(self.server, 0)
        pressed = time.time()
        time.sleep(seconds)
        event(self.server, code, 0, 0)
        self.x11.XSync(self.server, 0)
        return pressed, time.time()

    def stop(self):
        if self.server:
            self.x11.XCloseDisplay(self.server)
            self.server = None
        self.process.terminate()
        self.process.wait(timeout=20)
