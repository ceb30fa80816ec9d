"""QR codes (ISO/IEC 18004) of versions 1 to 10 at level M: the address of a code, up to 213 bytes."""

_ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
# For each version: all codewords, correction codewords in each block, blocks, and the centres of the alignment
# patterns.
_VERSIONS = (
    (26, 10, 1, ()), (44, 16, 1, (6, 18)), (70, 26, 1, (6, 22)), (100, 18, 2, (6, 26)), (134, 24, 2, (6, 30)),
    (172, 16, 4, (6, 34)), (196, 18, 4, (6, 22, 38)), (242, 22, 4, (6, 24, 42)), (292, 22, 5, (6, 26, 46)),
    (346, 26, 5, (6, 28, 50)))
_LEVEL_M = 0
_MASKS = (
    lambda row, column: (row + column) % 2 == 0, lambda row, column: row % 2 == 0,
    lambda row, column: column % 3 == 0, lambda row, column: (row + column) % 3 == 0,
    lambda row, column: (row // 2 + column // 3) % 2 == 0, lambda row, column: row * column % 2 + row * column % 3 == 0,
    lambda row, column: (row * column % 2 + row * column % 3) % 2 == 0,
    lambda row, column: ((row + column) % 2 + row * column % 3) % 2 == 0)


def encode(text):
    """The modules, row by row, True for dark ones; ValueError for a text that is not ASCII or too long."""
    version, codewords = _codewords(text)
    frame = _frame(version)
    best = None
    for number, mask in enumerate(_MASKS):
        modules = _filled(frame, codewords, mask)
        _write_format(modules, number)
        penalty = _penalty(modules)
        if best is None or penalty < best[0]:
            best = penalty, modules
    return best[1]


# Codewords

def _codewords(text):
    data = text.encode("ascii")
    is_alphanumeric = all(letter in _ALPHANUMERIC for letter in text)
    for version, (total, correction, blocks, _) in enumerate(_VERSIONS, 1):
        room = total - correction * blocks
        bits = _alphanumeric(text, version) if is_alphanumeric else _bytes(data, version)
        if len(bits) <= room * 8:
            break
    else:
        raise ValueError("too long for a QR code")
    bits += "0" * min(4, room * 8 - len(bits))
    bits += "0" * (-len(bits) % 8)
    words = [int(bits[place:place + 8], 2) for place in range(0, len(bits), 8)]
    words += [(0xEC, 0x11)[number % 2] for number in range(room - len(words))]
    return version, _interleaved(words, correction, blocks)


def _alphanumeric(text, version):
    bits = "0010" + format(len(text), "09b" if version < 10 else "011b")
    for place in range(0, len(text), 2):
        values = [_ALPHANUMERIC.index(letter) for letter in text[place:place + 2]]
        bits += format(values[0] * 45 + values[1], "011b") if len(values) == 2 else format(values[0], "06b")
    return bits


def _bytes(data, version):
    return "0100" + format(len(data), "08b" if version < 10 else "016b") + "".join(format(byte, "08b") for byte in data)


def _interleaved(words, correction, blocks):
    short = len(words) // blocks
    parts, place = [], 0
    for number in range(blocks):
        # The blocks with one more codeword come last.
        end = place + short + (number >= blocks - len(words) % blocks)
        parts.append(words[place:end])
        place = end
    mixed = [part[row] for row in range(short + 1) for part in parts if row < len(part)]
    checks = [_check(part, correction) for part in parts]
    return mixed + [check[row] for row in range(correction) for check in checks]


def _field():
    powers, value = [], 1
    for _ in range(255):
        powers.append(value)
        value = value << 1 ^ (0x11D if value & 0x80 else 0)
    return powers, {value: power for power, value in enumerate(powers)}


_POWERS, _LOGARITHMS = _field()


def _times(a, b):
    return _POWERS[(_LOGARITHMS[a] + _LOGARITHMS[b]) % 255] if a and b else 0


def _check(words, count):
    """Reed-Solomon: the rest of the division by the product of (x - 2^n), n below count."""
    divisor = [1]
    for number in range(count):
        longer = divisor + [0]
        for place, value in enumerate(divisor):
            longer[place + 1] ^= _times(value, _POWERS[number])
        divisor = longer
    rest = [0] * count
    for word in words:
        factor = word ^ rest[0]
        rest = [value ^ _times(factor, by) for value, by in zip(rest[1:] + [0], divisor[1:])]
    return rest


# Modules

def _frame(version):
    """The patterns that are the same for every text; None where data goes."""
    side = 17 + 4 * version
    frame = [[None] * side for _ in range(side)]
    for top, left in ((0, 0), (0, side - 7), (side - 7, 0)):
        for row in range(-1, 8):
            for column in range(-1, 8):
                if 0 <= top + row < side and 0 <= left + column < side:
                    ring = max(abs(row - 3), abs(column - 3))
                    frame[top + row][left + column] = ring not in (2, 4)
    centres = _VERSIONS[version - 1][3]
    for row in centres:
        for column in centres:
            if frame[row][column] is None:
                for down in range(-2, 3):
                    for right in range(-2, 3):
                        frame[row + down][column + right] = max(abs(down), abs(right)) != 1
    for place in range(8, side - 8):
        frame[6][place] = frame[place][6] = place % 2 == 0
    frame[side - 8][8] = True
    for row, column in _format_places(side):
        frame[row][column] = frame[row][column] or False
    if version >= 7:
        bits = version << 12 | _remainder(version, 12, 0x1F25)
        for number in range(18):
            row, column = number // 3, side - 11 + number % 3
            frame[row][column] = frame[column][row] = bool(bits >> number & 1)
    return frame


def _format_places(side):
    """Where the fifteen bits of the format stand, lowest first, and then once more."""
    first = [(row, 8) for row in range(6)] + [(7, 8), (8, 8), (8, 7)] + [(8, column) for column in range(5, -1, -1)]
    second = [(8, side - 1 - column) for column in range(8)] + [(side - 7 + row, 8) for row in range(7)]
    return first + second


def _write_format(modules, mask):
    data = _LEVEL_M << 3 | mask
    bits = (data << 10 | _remainder(data, 10, 0x537)) ^ 0x5412
    for number, (row, column) in enumerate(_format_places(len(modules))):
        modules[row][column] = bool(bits >> number % 15 & 1)


def _remainder(value, bits, polynomial):
    rest = value << bits
    for place in range(rest.bit_length() - 1, bits - 1, -1):
        if rest >> place & 1:
            rest ^= polynomial << place - bits
    return rest


def _filled(frame, codewords, mask):
    side = len(frame)
    modules = [list(row) for row in frame]
    bits = "".join(format(word, "08b") for word in codewords)
    place, is_upwards = 0, True
    right = side - 1
    while right > 0:
        if right == 6:  # The timing pattern occupies this column.
            right = 5
        for row in range(side - 1, -1, -1) if is_upwards else range(side):
            for column in (right, right - 1):
                if frame[row][column] is None:
                    is_dark = place < len(bits) and bits[place] == "1"
                    modules[row][column] = is_dark != mask(row, column)
                    place += 1
        right -= 2
        is_upwards = not is_upwards
    return modules


def _penalty(modules):
    side = len(modules)
    lines = ["".join("1" if module else "0" for module in row) for row in modules]
    lines += ["".join("1" if row[column] else "0" for row in modules) for column in range(side)]
    total = 0
    for line in lines:
        for run in line.replace("01", "0 1").replace("10", "1 0").split(" "):
            total += len(run) - 2 if len(run) >= 5 else 0
        for place in range(side - 10):
            total += 40 if line[place:place + 11] in ("10111010000", "00001011101") else 0
    for row in range(side - 1):
        for column in range(side - 1):
            if modules[row][column] == modules[row][column + 1] == modules[row + 1][column] == modules[row + 1][column + 1]:
                total += 3
    dark = sum(line.count("1") for line in lines[:side]) * 100
    return total + abs(dark - 50 * side * side) // (5 * side * side) * 10
