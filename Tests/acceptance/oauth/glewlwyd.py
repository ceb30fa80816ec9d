"""Debian's glewlwyd, a third-party OAuth server: set up through its own API, with a viewer who approves or denies.

    glewlwyd.py CODES        for a benchmark: serves without TLS until SIGTERM, and prints its address and CODES device
    codes
"""

import gzip
import json
import pathlib
import signal
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from issuer import Authority, openssl
from regentd import free_port
from service import PATIENCE, until

PROGRAM = pathlib.Path("/usr/bin/glewlwyd")
TABLES = "/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz"
CONFIGURATION = """
port={port}
bind_address="127.0.0.1"
external_url="{url}"
login_url="login.html"
api_prefix="api"
static_files_path="/usr/share/glewlwyd/webapp/"
log_mode="console"
log_level="INFO"
cookie_domain="localhost"
cookie_secure={secure}
session_expiration=2419200
session_key="GLEWLWYD2_SESSION_ID"
admin_session_authentication="cookie"
profile_session_authentication="cookie"
login_api_enabled=true
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="/usr/lib/glewlwyd/user"
user_middleware_module_path="/usr/lib/glewlwyd/user_middleware"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
{tls}
hash_algorithm="SHA512"
database={{ type="sqlite3" path="{home}/glewlwyd.db" }};
"""
TLS = """use_secure_connection=true
secure_connection_key_file="{key}"
secure_connection_pem_file="{certificate}\""""
# The initial account in Debian's tables.
ADMINISTRATOR, PASSWORD = "admin", "password"


class Glewlwyd:
    client = "regent"

    def __init__(self, secure=True):
        self.folder = tempfile.TemporaryDirectory(prefix="regent-glewlwyd-")
        home = self.folder.name
        self.authority = Authority(home)
        port = free_port()
        self.url = f"{'https' if secure else 'http'}://localhost:{port}"
        self.issuer = self.url + "/api/oidc"
        with sqlite3.connect(f"{home}/glewlwyd.db") as database:
            database.executescript(gzip.open(TABLES, "rt").read())
        pathlib.Path(home, "conf").write_text(CONFIGURATION.format(
            port=port, url=self.url, home=home, secure=int(secure),
            tls=TLS.format(key=self.authority.key, certificate=self.authority.certificate) if secure else ""))
        self.log = pathlib.Path(home, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, f"--config-file={home}/conf"], stdout=log, stderr=subprocess.STDOUT, cwd=home)
        try:
            self.context = ssl.create_default_context(cafile=self.authority.ca)
            # Kept by hand, because Python's cookie jar drops cookies with the domain "localhost".
            self.cookie = ""
            until("glewlwyd to answer", self.is_there)
            self.set_up(home)
        except BaseException:
            print(self.log.read_text()[-4000:])
            self.stop()
            raise

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def is_there(self):
        try:
            return self.call("GET", "/config")
        except urllib.error.URLError:
            return None

    def call(self, method, path, document=None):
        data = json.dumps(document).encode() if document is not None else None
        request = urllib.request.Request(
            self.url + path, data, {"Content-Type": "application/json", "Cookie": self.cookie}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE, context=self.context) as answer:
                self.cookie = (answer.headers["Set-Cookie"] or self.cookie).split(";")[0]
                body = answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read()[:500]}") from error
        return body or b"{}"

    def set_up(self, home):
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{home}/sign.key")
        openssl("ec", "-in", f"{home}/sign.key", "-pubout", "-out", f"{home}/sign.pub")
        openssl("pkcs8", "-topk8", "-nocrypt", "-in", f"{home}/sign.key", "-out", f"{home}/sign.pk8")
        self.call("POST", "/api/auth/", {"username": ADMINISTRATOR, "password": PASSWORD})
        self.call("POST", "/api/mod/plugin/", {
            "module": "oidc", "name": "oidc", "display_name": "OIDC", "parameters": {
                "iss": self.issuer, "jwt-type": "ecdsa", "jwt-key-size": "256",
                "key": pathlib.Path(home, "sign.pk8").read_text(), "cert": pathlib.Path(home, "sign.pub").read_text(),
                "access-token-duration": 3600, "refresh-token-duration": 1209600, "code-duration": 600,
                "refresh-token-rolling": True, "allow-non-oidc": True,
                "auth-type-code-enabled": False, "auth-type-token-enabled": False, "auth-type-id-token-enabled": True,
                "auth-type-none-enabled": False, "auth-type-password-enabled": False, "auth-type-client-enabled": False,
                "auth-type-device-enabled": True, "auth-type-refresh-enabled": True,
                "device-authorization-expiration": 600, "device-authorization-interval": 5,
                "oauth-dpop-allowed": True, "oauth-dpop-iat-duration": 60,
                "revocation-allowed": True, "introspection-revocation-allowed": True,
                "introspection-revocation-allow-target-client": True, "subject-type": "public",
                "scope": [], "additional-parameters": [], "claims": []}})
        self.call("POST", "/api/client/", {
            "client_id": self.client, "name": self.client, "confidential": False, "enabled": True,
            "scope": ["openid"], "authorization_type": ["device_authorization", "refresh_token"],
            "token_endpoint_auth_method": ["none"], "redirect_uri": ["https://localhost/unused"]})

        self.call("POST", "/api/user/", {
            "username": "anna", "password": PASSWORD, "enabled": True, "scope": ["openid", "g_profile"]})
        self.cookie = ""
        self.call("POST", "/api/auth/", {"username": "anna", "password": PASSWORD})

    def approve(self, code):
        """Approves a code as glewlwyd's own pages do."""
        self.call("PUT", f"/api/auth/grant/{self.client}", {"scope": "openid"})
        self.call("GET", f"/api/oidc/device?code={urllib.parse.quote(code)}&g_continue")

    def user_info(self, token, header):
        """The viewer's data for a program with the token and its DPoP proof."""
        lines = dict(line.split(": ", 1) for line in header.splitlines())
        assert token in lines["Authorization"], "another token"
        request = urllib.request.Request(self.issuer + "/userinfo", headers=lines)
        with urllib.request.urlopen(request, timeout=PATIENCE, context=self.context) as answer:
            return json.loads(answer.read())

    def device_code(self):
        """The device code for a program that asks for one."""
        form = urllib.parse.urlencode({"client_id": self.client, "scope": "openid"}).encode()
        with urllib.request.urlopen(
                self.issuer + "/device_authorization", form, timeout=PATIENCE, context=self.context) as answer:
            return json.load(answer)["device_code"]


def main():
    server = Glewlwyd(secure=False)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        codes = [server.device_code() for _ in range(int(sys.argv[1]))]
        port = urllib.parse.urlsplit(server.url).port
        print(server.process.pid, port, server.client, *codes, flush=True)
        signal.pause()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
