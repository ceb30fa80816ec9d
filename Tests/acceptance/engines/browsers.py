"""The three browsers, each started at phone size."""

import glob
import pathlib

from engines.engine import HEIGHT, WIDTH, Engine
from engines.wire import Marionette
from regentd import free_port
from service import until


class WebKit(Engine):
    # A tab of MiniBrowser opens in the background.
    name, tab = "WebKitGTK", "window"

    def start(self):
        programs = sorted(glob.glob("/usr/lib/*/webkit*gtk-*/MiniBrowser"))
        if not programs:
            raise SystemExit("no MiniBrowser; run deploy/bootstrap --pages")
        port = free_port()
        self.launch("WebKitWebDriver", f"--port={port}")
        # GTK 4 and GTK 3 have the same setting.
        for folder in ("gtk-4.0", "gtk-3.0"):
            settings = pathlib.Path(self.folder.name, ".config", folder, "settings.ini")
            settings.parent.mkdir(parents=True)
            settings.write_text(f"[Settings]\ngtk-enable-animations={int(not self.calm)}\n")
        # Without its toolbar the window can be as narrow as a phone.
        options = ["--automation", "--full-screen"] + ([] if self.script else ["--enable-javascript=false"])
        return self.session(port, {"webkitgtk:browserOptions": {"binary": programs[0], "args": options}})

    def begin_tab(self):
        self.driver.command("resize", x=0, y=0, width=WIDTH, height=HEIGHT)

    def corner(self):
        return 0, self.run("return outerHeight - innerHeight")


class Chromium(Engine):
    name = "Chromium"

    def start(self):
        port = free_port()
        self.launch("chromedriver", f"--port={port}")
        # In kiosk mode and without the bar about automation, the page begins at the corner of the display.
        return self.session(port, {"goog:chromeOptions": {
            "excludeSwitches": ["enable-automation"],
            "args": ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en", "--kiosk", "--window-position=0,0",
                     "--window-size=600,1000",
                     *(["--force-prefers-reduced-motion"] if self.calm else [])],
            "prefs": {"credentials_enable_service": False, "profile.password_manager_enabled": False},
            "mobileEmulation": {"deviceMetrics": {
                "width": WIDTH, "height": HEIGHT, "pixelRatio": 1, "touch": True, "mobile": True}}}})

    def begin_tab(self):
        self.driver.command(
            "devtools", cmd="Emulation.setScriptExecutionDisabled", params={"value": not self.script})
        # The display's mouse becomes a finger.
        self.driver.command(
            "devtools", cmd="Emulation.setEmitTouchEventsForMouse", params={"enabled": True, "configuration": "mobile"})


class Firefox(Engine):
    name = "Firefox"

    def start(self):
        settings = {
            "marionette.port": 0, "javascript.enabled": self.script, "signon.rememberSignons": False,
            "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
            "ui.prefersReducedMotion": int(self.calm), "browser.aboutwelcome.enabled": False,
            "app.normandy.enabled": False}
        text = "".join(f'user_pref("{name}", {str(value).lower()});\n' for name, value in settings.items())
        profile = pathlib.Path(self.folder.name, "profile")
        profile.mkdir()
        (profile / "user.js").write_text(text)
        self.launch(
            "firefox-esr", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile,
            "-width", "500", "-height", str(HEIGHT + 85))
        port = profile / "MarionetteActivePort"
        until("Firefox listens", lambda: port.exists() and port.read_text().strip())
        return Marionette(int(port.read_text()), {"pageLoadStrategy": "none", "acceptInsecureCerts": True})

    def begin_tab(self):
        # The window is at least 500 pixels wide, but the page in it can be narrower.
        self.driver.command("context", value="chrome")
        self.run(f"const style = gBrowser.selectedBrowser.style; style.minWidth = style.maxWidth = '{WIDTH}px';")
        self.driver.command("context", value="content")

    def corner(self):
        return self.run("return [mozInnerScreenX, mozInnerScreenY]")


ENGINES = (WebKit, Firefox, Chromium)
