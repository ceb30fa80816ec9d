"""The parts of kodi.py that need no service: cryptography, pictures, texts, fonts, the repository's files."""

import ast
import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import urllib.parse
import zipfile

from kodi_house import ROOT
from service import PATIENCE


def proxies(house):
    """The rules of the agent (`ProxyTests`)."""
    from regent import proxies
    from regent.daemon import RegentError
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.lower().endswith("_proxy")}
    try:
        for server, setting, variables, wanted in (
                ("http://tv.example:80", "", {}, None),
                ("http://tv.example:80", "", {"http_proxy": "http://p:3128/"}, ("p", 3128)),
                ("http://tv.example:80", "", {"http_proxy": "p"}, ("p", 80)),
                ("http://tv.example:80", "", {"HTTP_PROXY": "http://p:1"}, None),
                ("https://tv.example:443", "", {"HTTPS_PROXY": "http://p:1", "http_proxy": "http://q:1"}, ("p", 1)),
                ("https://tv.example:443", "http://s:2", {"https_proxy": "http://p:1"}, ("s", 2)),
                ("http://tv.example:80", "none", {"http_proxy": "http://p:1"}, None),
                ("http://127.0.0.1:80", "http://s:2", {}, None), ("http://localhost:80", "s:2", {}, None),
                ("http://tv.example:80", "s:2", {"no_proxy": "*"}, None),
                ("http://tv.example:80", "s:2", {"no_proxy": "other, example"}, None),
                ("http://tv.example:80", "s:2", {"no_proxy": ".example"}, None),
                ("http://tv.example:80", "s:2", {"no_proxy": "*.example"}, None),
                ("http://tvexample:80", "s:2", {"no_proxy": "example"}, ("s", 2)),
                ("http://tv.example:80", "s:2", {"no_proxy": "tv.example:81"}, ("s", 2)),
                ("http://tv.example:80", "s:2", {"no_proxy": "tv.example:80"}, None),
                ("http://10.1.2.3:80", "s:2", {"no_proxy": "10.9.9.9/8"}, None),
                ("http://11.1.2.3:80", "s:2", {"no_proxy": "10.0.0.0/8"}, ("s", 2)),
                ("http://[fd00::1]:80", "s:2", {"NO_PROXY": "fd00::/8"}, None),
                ("http://[fd00::1]:80", "s:2", {"no_proxy": "[fd00::1]:80"}, None)):
            os.environ.update(variables)
            proxies.setting = setting
            place = urllib.parse.urlsplit(server)
            found = proxies.route(place.scheme, place.hostname, place.port)
            assert found == wanted, (server, setting, variables, found)
            for name in variables:
                del os.environ[name]
        for wrong in ("socks5://p:1", "https://p:1", "http://user:word@p:1", "http://p:x", "http://p:1/path", "http://:1"):
            proxies.setting = wrong
            try:
                raise AssertionError(f"{wrong} is used: {proxies.route('http', 'tv.example', 80)}")
            except RegentError as error:
                assert error.code == "proxy"
    finally:
        proxies.setting = ""
        os.environ.update(kept)


def vectors(house):
    from regent import aesgcm, wire
    bytes_of = bytes.fromhex
    # McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13 to 16.
    key = bytes_of("feffe9928665731c6d6a8f9467308308" * 2)
    plain = bytes_of(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255")
    sealed = bytes_of(
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad")
    nonce, more = bytes_of("cafebabefacedbaddecaf888"), bytes_of("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    for key_, nonce_, data, tag, associated, wanted in (
            (bytes(32), bytes(12), b"", "530f8afbc74536b9a963b4f1c4cb738b", b"", b""),
            (bytes(32), bytes(12), bytes_of("cea7403d4d606b6e074ec5d3baf39d18"), "d0d1c8a799996bf0265b98b5d48ab919", b"", bytes(16)),
            (key, nonce, sealed, "b094dac5d93471bdec1a502270e3cc6c", b"", plain),
            (key, nonce, sealed[:60], "76fc6ece0f4e1768cddf8853bb2d551b", more, plain[:60])):
        assert aesgcm.open_sealed(key_, nonce_, data, bytes_of(tag), associated) == wanted
        for changed in ((data + b"\0", tag, associated), (data, "00" + tag[2:], associated), (data, tag, associated + b"\0")):
            try:
                aesgcm.open_sealed(key_, nonce_, changed[0], bytes_of(changed[1]), changed[2])
            except aesgcm.NotAuthentic:
                continue
            raise AssertionError("a changed box was opened")
    # docs/protocol.md, "The signed header".
    for text, expected in re.findall(r"vector '([^']*)'\)\" = (\S+)", (ROOT / "docs/protocol.md").read_text()):
        assert wire.signature("exampleSecret123", text, "sha1") == expected


def pictures(house):
    from regent import picture, qr
    place = house.home / "picture.png"
    letters = "BCDFGHJKLMNPQRSTVWXYZ0123456789"
    for text in ("HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK.0123ABCD", "http://192.168.7.1:8787/D/BCDFGHJK", *(
            (letters * 12)[:length] for length in (20, 38, 61, 90, 122, 154, 178, 221, 262, 311)), "x" * 213):
        picture.write(place, picture.qr_code(text, 840))
        read = subprocess.run(["zbarimg", "-q", "--raw", place], capture_output=True, text=True, timeout=PATIENCE).stdout
        assert read.strip() == text, (text, read)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    for text in ("x" * 214, "ü"):
        try:
            qr.encode(text)
        except ValueError:
            continue
        raise AssertionError("a text was encoded that is too long or not ASCII")
    for text in ("BCDF-GHJK", "47"):
        assert picture.word(text, 3).startswith(b"\x89PNG")


def screens(house):
    """Every state has a text in each language, without unfilled placeholders."""
    from regent import words
    from regent.screen import Screen
    code = {"event": "code", "code": "BCDFGHJK", "display": "BCDF-GHJK", "url": "x", "address": "tv.example.org", "seconds": 600}
    moments = [
        [], [code], [code, {"event": "opened"}], [code, {"event": "match", "number": 47}], [code, {"event": "denied"}],
        [code, {"event": "match", "number": 47}, {"event": "denied"}], [code, {"event": "expired"}],
        [code, {"event": "authenticated", "provider": "Aurora TV"}], [{**code, "seconds": None, "expires": 1}]]
    for problem in ("unreachable", "clock", "captive-portal", "not-trusted", "foreign-address", "busy", "storage", "service", "other",
                    "not-signed-in"):
        error = {"event": "error", "code": problem, "message": "a sentence", "host": "tv.example.org", "seconds": 7}
        moments += [[error], [code, error], [code, error, {"event": "recovered"}]]
    said = {}
    for language in words.TEXTS:
        for number, moment in enumerate(moments):
            screen = Screen(language)
            for event in moment:
                screen.handle(event, 100)
            lines = screen.lines
            assert lines and all(line and "{" not in line for line in lines), (language, moment, lines)
            assert screen.countdown(160) == (("29:00" if moment[0] is moments[8][0] else "9:00") if screen.shows_code else ""), moment
            said.setdefault(number, set()).add(tuple(lines))
    assert len(said[0]) == len(words.TEXTS) == 4
    screen = Screen("en")
    for event in ({"event": "error", "code": "not-signed-in", "message": "a sentence"}, code):
        screen.handle(event, 100)
    assert screen.lines == ["The account was disabled. Ask your TV provider, or use another account."], screen.lines
    assert said[4] != said[5] and said[10] != said[11], "a denial at the number and a problem beside a code have words of their own"


def fonts(house):
    """The module looks for Hangul in the font file."""
    from regent import fonts as module
    for letter, there in ((0x41, True), (0xB85C, False), (0xFFFF, False)):
        assert module.has_letter(pathlib.Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").read_bytes(), letter) == there
    # A font with one range of Hangul, in both formats of the table.
    four = struct.pack(">7H", 4, 32, 0, 4, 0, 0, 0) + struct.pack(">2H H 2H 2H 2H", 0xD7A3, 0xFFFF, 0, 0xAC00, 0xFFFF, 0x5405, 1, 0, 0)
    twelve = struct.pack(">HHIII", 12, 0, 28, 0, 1) + struct.pack(">III", 0xAC00, 0xD7A3, 5)
    for table in (four, twelve):
        cmap = struct.pack(">HHHHI", 0, 1, 3, 10, 12) + table
        font = struct.pack(">IHHHH", 0x10000, 1, 0, 0, 0) + b"cmap" + struct.pack(">III", 0, 28, len(cmap)) + cmap
        for letter, there in ((0xB85C, True), (0xAC00, True), (0xABFF, False), (0x41, False)):
            assert module.has_letter(font, letter) == there, (table[:2], hex(letter))
            assert module.has_letter(b"ttcf" + bytes(8) + struct.pack(">I", 16) + font.replace(
                struct.pack(">I", 28), struct.pack(">I", 44)), letter) == there
    place = house.home / "Font.xml"
    place.write_text('<fonts><fontset id="A"><font><name>font13</name><filename>a.ttf</filename></font></fontset><fontset id="B"><font>'
                     "<name>font13</name><filename>b.ttf</filename></font><font><name>font37</name><filename>c.ttf</filename></font>"
                     "</fontset></fonts>")
    assert [module.file_in(place, chosen) for chosen in "ABC"] == ["a.ttf", "c.ttf", None]
    assert [module.language(tag) for tag in ("it", "es_ES", "de", "EN")] == ["it", "es", "en", "en"]


def repository(house):
    built = house.repository
    again = house.home / "again"
    shutil.copytree(built.folder, again)
    subprocess.run([ROOT / "deploy/kodi/build", "http://127.0.0.1:9/kodi", "--version", built.version, "--out", built.folder],
                   check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    subprocess.run(["diff", "-r", built.folder, again], check=True, timeout=PATIENCE)
    for path in built.folder.glob("*/*.zip"):
        subprocess.run(["sha256sum", "--check", "--quiet", path.name + ".sha256"], cwd=path.parent, check=True, timeout=PATIENCE)
        for entry in zipfile.ZipFile(path).infolist():
            assert entry.external_attr >> 16 == 0o100644, entry
            if entry.filename.endswith(".py"):
                # Kodi 19 has Python 3.8.
                ast.parse(zipfile.ZipFile(path).read(entry), entry.filename, feature_version=(3, 8))
    for words in (["nonsense"], ["http://x", "--version", "a b"]):
        done = subprocess.run([ROOT / "deploy/kodi/build", *words, "--out", again], capture_output=True, timeout=PATIENCE)
        assert done.returncode and b"deploy/kodi/build:" in done.stderr, done
