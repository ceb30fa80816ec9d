#!/usr/bin/env python3
"""Runs kodi-addon-checker on what `make kodi` builds, for Kodi 20 (nexus) and 21 (omega): no problem and no warning.

The checker downloads a list of add-ons and fails without it. Here a local server, set as the http proxy, gives it
Kodi's own add-ons, from the Debian of kodi_real.py, and ours. Its Python packages go into .build/kodi-checker-venv.
"""

import gzip
import http.server
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "kodi-addon-checker==0.0.36"
BRANCHES = ("nexus", "omega")


class Mirror(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.server.index if self.path.endswith("/addons.xml.gz") else None
        self.server.seen.append(self.path)
        self.send_response(200 if content else 404)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


def without_head(text):
    return re.sub(r"<\?xml.*?\?>", "", text)


def index(root, made):
    """The addons.xml of a server that has Kodi's own add-ons and ours."""
    own = [without_head(path.read_text(encoding="utf-8")) for path in sorted(root.glob("usr/share/kodi/addons/*/addon.xml"))]
    assert any('id="xbmc.python"' in addon for addon in own), f"no Kodi in {root}: run kodi_real.py first"
    ours = without_head((made / "addons.xml").read_text(encoding="utf-8")).replace("<addons>", "").replace("</addons>", "")
    return gzip.compress(("<addons>" + "".join(own) + ours + "</addons>").encode())


def checker():
    venv = ROOT / ".build/kodi-checker-venv"
    if not (venv / "bin/kodi-addon-checker").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "--quiet", VERSION], check=True)
    return venv / "bin/kodi-addon-checker"


def main():
    program = checker()
    with tempfile.TemporaryDirectory(prefix="regent-kodi-") as home:
        made = pathlib.Path(home, "kodi")
        subprocess.run([ROOT / "deploy/kodi/build", "https://packages.example.org/kodi", "--out", made], check=True, stdout=subprocess.DEVNULL)
        mirror = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
        mirror.index, mirror.seen = index(ROOT / ".build/kodi-trixie", made), []
        threading.Thread(target=mirror.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{mirror.server_port}"
        failed = False
        for branch in BRANCHES:
            for path in sorted(made.glob("*/*.zip")):
                folder = pathlib.Path(home, branch)
                zipfile.ZipFile(path).extractall(folder)
                done = subprocess.run(
                    [program, "--branch", branch, folder / path.parent.name], cwd=home, capture_output=True, text=True, timeout=300,
                    env={**os.environ, "http_proxy": place, "https_proxy": place, "NO_COLOR": "1"})
                said = done.stdout + done.stderr
                if done.returncode or "We found no problems and no warnings" not in said:
                    failed = True
                    print(f"{branch}, {path.name}: exit {done.returncode}\n{said}", file=sys.stderr)
        assert mirror.seen, "the checker asked for no list of add-ons"
    if failed:
        sys.exit("kodi-addon-checker complains")
    print(f"{VERSION}: three add-ons, {' and '.join(BRANCHES)}, no problem and no warning")


if __name__ == "__main__":
    main()
