"""Redeems an enrolment code (`ADDRESS#CODE`, from `regentctl requestor invite`) for a key pair of this device.

The code is never sent: the request proves that the device knows it, and the response is encrypted with a key derived
from it (docs/decisions/0014-enrolment-codes.md in Regent's sources).
"""

import hashlib
import hmac
import json
import re

from . import aesgcm
from .daemon import RegentError

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ROUNDS = 200_000


def parse(text):
    """The address before the `#` (None without one) and the sixteen letters of the code."""
    text = text.strip()
    address, mark, typed = text.rpartition("#")
    letters = re.sub("[ \t\u2013\u2014-]", "", typed).upper().translate(str.maketrans("OIL", "011"))
    if len(letters) != 16 or any(letter not in _ALPHABET for letter in letters):
        raise RegentError(
            "enrolment-code", "this is not an enrolment code",
            "write ADDRESS#CODE as regentctl requestor invite shows it", 2)
    if not mark:
        return None, letters
    if not re.match(r"https?://[A-Za-z0-9.\-_\[\]:]+(/[A-Za-z0-9._~/\-]*)?$", address):
        raise RegentError("address", "the text before # is not a web address", "use the form https://tv.example.org#CODE", 2)
    return address.rstrip("/"), letters


class Key:
    """The keys that both sides derive from a code: one for proofs, one for the encrypted response."""

    def __init__(self, letters):
        self.id, secret = letters[:4], letters[4:]
        key = hashlib.pbkdf2_hmac("sha256", secret.encode(), _framed("regent-enrolment", self.id.encode(), 2), _ROUNDS)
        self.proofs, self.seal = _derived(key, b"regent: proof of a code"), _derived(key, b"regent: seal for a code")

    def box(self, identity):
        """This device's id for this code. It is the same each time, and the code cannot be computed from it."""
        return _hash(self.proofs, _framed("regent-enrolment-box", identity, 1))

    def request(self, identity):
        """The body of the call, and the message to which proof and response are bound."""
        box = self.box(identity)
        message = f"regent-enrol-1 {self.id} ".encode() + box
        proof = _hash(self.proofs, message)
        return json.dumps({"id": self.id, "box": box.hex(), "proof": proof.hex()}).encode(), message

    def opened(self, answer, message):
        """Decrypts a response; returns requestor, publicKey, secret and service."""
        try:
            sealed = bytes.fromhex(answer["sealed"])
            # The format: version, key id, nonce, data, tag.
            if sealed[:5] != b"\1\0\0\0\0":
                raise ValueError
            plain = aesgcm.open_sealed(self.seal, sealed[5:17], sealed[17:-16], sealed[-16:], sealed[:5] + message)
            grant = json.loads(plain.decode("utf-8"))
            return {name: str(grant[name]) for name in ("requestor", "publicKey", "secret", "service")}
        except (aesgcm.NotAuthentic, KeyError, TypeError, ValueError):
            raise RegentError(
                "not-the-service", "what answers is not the service that made the code",
                "compare code and address; another machine in the network may pretend to be the service", 1) from None


def _hash(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def _derived(secret, info):
    """HKDF (RFC 5869) without a salt, 32 bytes."""
    return _hash(_hash(bytes(32), secret), info + b"\1")


def _framed(purpose, field, kind):
    """Purpose, version 1 and a field, each after its kind (1 bytes, 2 text, 3 number) and its length."""
    framed = b""
    for number, content in ((2, purpose.encode()), (3, (1).to_bytes(8, "big")), (kind, field)):
        framed += bytes([number]) + len(content).to_bytes(4, "big") + content
    return framed
