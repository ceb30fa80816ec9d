"""Signs this Kodi in with a phone and gets media tokens, for add-ons that require script.module.regent.

    import regent

    regent.sign_in()
    token = regent.media_token("channel-1")

`sign_in` shows a code until a viewer has approved it on a phone. Every failure raises a RegentError with `code`, an
identifier for programs, `message`, a sentence, and `hint`, what to do (or None).
"""

from .daemon import Regent, RegentError

__all__ = ["Denied", "Left", "Regent", "RegentError", "media_token", "preauthorize", "sign_in", "sign_out", "status"]


class Denied(RegentError):
    """The viewer denied the sign-in on the phone, or typed a wrong number there."""

    def __init__(self):
        super().__init__("denied", "the sign-in was denied on the phone", None, 4)


class Left(RegentError):
    """The viewer closed the sign-in screen."""

    def __init__(self):
        super().__init__("cancelled", "the viewer left the sign-in", None, 3)


def sign_in(force=False):
    """Shows the sign-in screen if this device is not signed in, or always with `force`; returns the status.

    Raises Left when the viewer closes the screen, Denied when the phone denies and the viewer wants no new code."""
    from . import kodi
    return kodi.sign_in(force)


def sign_out():
    """Signs this device out; returns whether it was signed in."""
    from . import kodi
    return kodi.box().sign_out()


def status(ask=False):
    """The status: signedIn, requestor, and with a sign-in provider, providerName and expires (epoch milliseconds).

    accountDisabled is true when the device is not signed in because an operator has disabled its account.
    With `ask` it comes from the service, otherwise only from this device."""
    from . import kodi
    box = kodi.box()
    return box.refresh() if ask else box.status()


def media_token(resource):
    """A short media token for one resource, in the form of `regent authorize`."""
    from . import kodi
    return kodi.box().media_token(resource)


def preauthorize(resources):
    """The resources among these that the viewer may watch; use it to mark lists, not to start playing."""
    from . import kodi
    return kodi.box().preauthorize(resources)
