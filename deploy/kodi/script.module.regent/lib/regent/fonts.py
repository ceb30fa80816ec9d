"""Whether the skin's font has the letters of a language: Debian's Kodi has no Hangul and draws boxes instead."""

import json
import os
import struct
import xml.etree.ElementTree

from . import words

# The font that the window uses, and for some languages a letter that the font must have.
_FONT = "font37"
_NEEDED = {"ko": 0xB85C}


def language(wanted):
    """The language for the texts: the one that Kodi speaks, when we have it and the font can draw it, else English."""
    wanted = wanted.lower()[:2]
    if wanted not in words.TEXTS:
        return "en"
    letter = _NEEDED.get(wanted)
    return wanted if letter is None or _can_draw(letter) else "en"


def _can_draw(letter):
    try:
        path = _font_file()
        with open(path, "rb") as file:
            return has_letter(file.read(), letter)
    except (KeyError, OSError, ValueError, struct.error, xml.etree.ElementTree.ParseError):
        return False


def _font_file():
    """The file of our font in the font set that the viewer chose."""
    import xbmc
    import xbmcvfs
    answer = json.loads(xbmc.executeJSONRPC(json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "Settings.GetSettingValue", "params": {"setting": "lookandfeel.font"}})))
    chosen = answer["result"]["value"]
    skin = xbmcvfs.translatePath("special://skin/")
    for folder, _, names in os.walk(skin):
        if "Font.xml" in names:
            name = file_in(os.path.join(folder, "Font.xml"), chosen)
            for place in (os.path.join(skin, "fonts"), xbmcvfs.translatePath("special://home/media/Fonts"),
                          xbmcvfs.translatePath("special://xbmc/media/Fonts")):
                if name and os.path.exists(os.path.join(place, name)):
                    return os.path.join(place, name)
    raise ValueError("the skin names no such font")


def file_in(path, chosen):
    """The file of our font in a set of Font.xml; that of font13, as Kodi does, where the skin has no such font."""
    sets = {one.get("id"): one for one in xml.etree.ElementTree.parse(path).getroot().iter("fontset")}
    fonts = sets.get(chosen)
    if fonts is None:
        return None
    files = {font.findtext("name"): font.findtext("filename") for font in fonts.iter("font")}
    return files.get(_FONT) or files.get("font13")


def has_letter(font, letter):
    """Whether an OpenType font maps a character of the basic plane to a glyph (table cmap, formats 4 and 12)."""
    start = 0
    if font[:4] == b"ttcf":
        start = struct.unpack(">I", font[12:16])[0]
    tables = struct.unpack(">H", font[start + 4:start + 6])[0]
    for number in range(tables):
        place = start + 12 + 16 * number
        if font[place:place + 4] == b"cmap":
            return any(_maps(font, subtable, letter) for subtable in _subtables(font, struct.unpack(">I", font[place + 8:place + 12])[0]))
    return False


def _subtables(font, cmap):
    count = struct.unpack(">H", font[cmap + 2:cmap + 4])[0]
    for number in range(count):
        yield cmap + struct.unpack(">I", font[cmap + 8 + 8 * number:cmap + 12 + 8 * number])[0]


def _maps(font, place, letter):
    kind = struct.unpack(">H", font[place:place + 2])[0]
    if kind == 12:
        groups = struct.unpack(">I", font[place + 12:place + 16])[0]
        return any(
            first <= letter <= last and glyph + letter - first != 0
            for first, last, glyph in struct.iter_unpack(">III", font[place + 16:place + 16 + 12 * groups]))
    if kind != 4:
        return False
    segments = struct.unpack(">H", font[place + 6:place + 8])[0] // 2
    def numbers(part, sign="H"):
        begin = place + part
        return struct.unpack(f">{segments}{sign}", font[begin:begin + 2 * segments])
    ends, starts = numbers(14), numbers(16 + 2 * segments)
    deltas, offsets = numbers(16 + 4 * segments), numbers(16 + 6 * segments)
    for number in range(segments):
        if starts[number] <= letter <= ends[number]:
            if offsets[number] == 0:
                return (letter + deltas[number]) & 0xFFFF != 0
            glyph = place + 16 + 6 * segments + 2 * number + offsets[number] + 2 * (letter - starts[number])
            return struct.unpack(">H", font[glyph:glyph + 2])[0] != 0
    return False
