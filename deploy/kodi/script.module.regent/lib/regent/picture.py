"""PNG files of what must be legible with the fonts of any skin: the QR code, the code in letters, the number."""

import os
import struct
import zlib

from . import qr
from .letters import GLYPHS, HEIGHT

_QUIET = 4


def qr_code(text, size):
    """A square of at most `size` pixels, the quiet zone of four modules included."""
    modules = qr.encode(text)
    side = len(modules) + 2 * _QUIET
    scale = max(1, size // side)
    blank = [False] * side
    rows = [blank] * _QUIET + [[False] * _QUIET + row + [False] * _QUIET for row in modules] + [blank] * _QUIET
    return _png(rows, scale)


def word(text, scale):
    """Letters of five by seven dots, dark on white, with a margin of two dots."""
    dots = [[] for _ in range(HEIGHT)]
    for letter in text:
        width, rows = GLYPHS[letter]
        for line, bits in zip(dots, rows):
            line += [False] * bool(line) + [bool(bits >> width - 1 - place & 1) for place in range(width)]
    blank = [False] * (len(dots[0]) + 4)
    return _png([blank] * 2 + [[False] * 2 + line + [False] * 2 for line in dots] + [blank] * 2, scale)


def write(path, content):
    """Writes a picture for Kodi; 0600, because the code is in it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)


def _png(rows, scale):
    lines = b""
    for row in rows:
        line = b"".join((b"\0" if is_dark else b"\xff") * scale for is_dark in row)
        lines += (b"\0" + line) * scale
    header = struct.pack(">IIBBBBB", len(rows[0]) * scale, len(rows) * scale, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)
