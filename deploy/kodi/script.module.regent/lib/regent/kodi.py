"""Everything that uses Kodi's API except the window itself: settings, folders, the sign-in."""

import xbmc
import xbmcaddon
import xbmcvfs

from . import proxies, wire
from .daemon import RegentError
from .local import Daemon
from .service import Service
from .storage import Storage

ADDON = "script.module.regent"


def box(enrols_again=False):
    """The service at which this device is enrolled, else the daemon on this machine.

    First it redeems a code in the settings. An enrolled device does so only with `enrols_again`, because a wrong code
    must not keep a working device from playing. The code is removed from the settings when the key pair is on the
    disk."""
    addon = xbmcaddon.Addon(ADDON)
    folder = xbmcvfs.translatePath(addon.getAddonInfo("profile"))
    wire.authorities = xbmcvfs.translatePath("special://xbmc/system/certs/cacert.pem")
    proxies.setting = addon.getSetting("proxy")
    service = Service(Storage(folder), _device(addon))
    code = addon.getSetting("code").strip()
    if code and (enrols_again or not service.is_enrolled):
        service.enrol(code)
        addon.setSetting("code", "")
    if service.is_enrolled:
        return service
    daemon = Daemon()
    if daemon.is_there:
        return daemon
    raise RegentError("not-enrolled", "this device is not enrolled", "enter an enrolment code in the settings", 1)


def _device(addon):
    """The facts about this device that the phone shows."""
    name = addon.getSetting("name").strip() or xbmc.getInfoLabel("System.FriendlyName") or "Kodi"
    system = "Android" if xbmc.getCondVisibility("System.Platform.Android") else "Linux"
    return {"deviceName": name, "model": "Kodi " + xbmc.getInfoLabel("System.BuildVersionShort"), "osName": system}


def sign_in(force):
    from . import window
    device = box()
    status = device.status()
    if status["signedIn"] and not force:
        return status
    addon = xbmcaddon.Addon(ADDON)
    window.sign_in(device, xbmcvfs.translatePath(addon.getAddonInfo("path")), force, addon.getSettingBool("matching"))
    return device.status()


