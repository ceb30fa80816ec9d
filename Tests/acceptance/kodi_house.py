"""Shared by the tests of the Kodi add-ons: the built repository, a service with a viewer's phone, a pairing in a
thread, hostile servers, and the check of a media token by openssl."""

import base64
import contextlib
import http.server
import json
import pathlib
import re
import subprocess
import sys
import threading
import urllib.request
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "oauth")]
from issuer import Phone as Browser
from service import PASSWORD, PATIENCE, REQUESTOR, Service, until

ROOT = HERE.parents[1]


class Repository:
    """The repository that `make kodi` builds, and the module unpacked from its zip."""

    def __init__(self, home, version="1.2.3"):
        self.folder = pathlib.Path(home, "kodi")
        subprocess.run(
            [ROOT / "deploy/kodi/build", "http://127.0.0.1:9/kodi/", "--version", version, "--out", self.folder],
            check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        self.version = version
        zipfile.ZipFile(self.zip("script.module.regent")).extractall(home)
        self.module = pathlib.Path(home, "script.module.regent/lib")

    def zip(self, addon):
        return self.folder / addon / f"{addon}-{self.version}.zip"


class House:
    """A service with a viewer, and boxes with the module."""

    def __init__(self, programs, home):
        self.home, self.repository = pathlib.Path(home), Repository(home)
        sys.path.insert(0, str(self.repository.module))
        self.service = Service(programs)
        self.url, self.control, self.context = self.service.url, self.service.control, None
        self.control("entitle", "add", "aurora", "--allow", "channel-*")
        self.count = 0

    def invite(self, uses=1):
        made = self.control("requestor", "invite", REQUESTOR, "--uses", str(uses), "--json")
        return f"{self.service.inside}#{made['code']}"

    def folder(self):
        self.count += 1
        return str(self.home / f"box{self.count}")

    def box(self, enrolled=True):
        from regent.service import Service as Box
        from regent.storage import Storage
        box = Box(Storage(self.folder()), {"deviceName": "Kodi of the test"})
        if enrolled:
            box.enrol(self.invite())
        return box

    def phone(self, code, word, number=None):
        """A viewer opens the link, signs in and answers; `number` returns the number to type, if any."""
        phone, place = Browser(self), "/D/" + code.replace("-", "")
        phone.open(place)
        phone.send(place + "/open")
        if number is None:
            return finish(phone, code, word)
        finish(phone, code)
        phone.open(place + "/number")
        phone.send(place + "/number", number=str(number()))


class Pairing:
    """A pairing in a separate thread, as in the window."""

    def __init__(self, box, **more):
        self.box, self.events, self.error = box, [], None
        self.thread = threading.Thread(target=self.run, kwargs=more, daemon=True)
        self.thread.start()

    def run(self, **more):
        try:
            for event in self.box.pair(**more):
                self.events.append(event)
        except Exception as error:
            self.error = error

    def event(self, kind, count=1):
        def there():
            if self.error:
                raise self.error
            found = [event for event in self.events if event["event"] == kind]
            assert self.thread.is_alive() or len(found) >= count, f"no {kind}: {self.names}"
            return found[count - 1] if len(found) >= count else None
        return until(f"the event {kind}", there)

    @property
    def names(self):
        return [event["event"] for event in self.events]

    def ends(self):
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive(), self.names
        if self.error:
            raise self.error
        return self.names


@contextlib.contextmanager
def refuses(code, words=""):
    from regent import RegentError
    try:
        yield
    except RegentError as error:
        assert error.code == code and words in error.message, f"{error.code}: {error}"
    else:
        raise AssertionError(f"no error {code}")


def finish(phone, code, word=None):
    """Signs in on a phone that has opened the code, and answers."""
    place = "/D/" + code.replace("-", "")
    if "/provider" in phone.address:
        phone.send(place + "/provider", provider="aurora")
    phone.send(place + "/sign-in?provider=aurora", user="anna", password=PASSWORD)
    if word:
        phone.send(f"{place}/{word}")


def verified(house, token, resource):
    """Checks the signature with openssl and the published key."""
    text = base64.b64decode(token)
    signature, element = re.match(rb"<signatureInfo>(.*?)</signatureInfo>(<shortAuthorizationToken>.*)$", text, re.S).groups()
    assert f"<resourceID>{resource}<".encode() in element, element
    key = house.home / "key.pem"
    keys = json.load(urllib.request.urlopen(house.service.inside + "/oauth/jwks.json", timeout=PATIENCE))["keys"]
    known = re.search(rb"<keyId>(.*?)</keyId>", element).group(1).decode()
    key.write_bytes(pem(next(one for one in keys if one["kid"] == known)))
    (house.home / "signature").write_bytes(base64.b64decode(signature))
    done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", key, "-signature", house.home / "signature"],
                          input=element, capture_output=True, timeout=PATIENCE)
    return done.stdout.strip() == b"Verified OK"


def pem(key):
    """An RSA key of a JWK set as SubjectPublicKeyInfo."""
    def tlv(tag, data):
        length = bytes([len(data)]) if len(data) < 128 else b"\x82" + len(data).to_bytes(2, "big")
        return bytes([tag]) + length + data
    def integer(text):
        number = base64.urlsafe_b64decode(text + "==")
        return tlv(2, b"\0" * (number[0] > 127) + number)
    body = tlv(0x30, bytes.fromhex("300d06092a864886f70d0101010500") + tlv(3, b"\0" + tlv(0x30, integer(key["n"]) + integer(key["e"]))))
    return b"-----BEGIN PUBLIC KEY-----\n" + base64.encodebytes(body) + b"-----END PUBLIC KEY-----\n"


class Hostile(http.server.BaseHTTPRequestHandler):
    """Responds to everything as the test says, or forwards a call to the service and changes the response."""

    def answer(self):
        self.server.seen.append(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, headers, content = self.server.reply(self, body)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def hostile(reply):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    server.reply, server.seen = reply, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
