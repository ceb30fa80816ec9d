"""AES-256-GCM (NIST SP 800-38D) in plain Python, which decrypts the response to an enrolment; Kodi's Python has no AES.

A response of some 300 bytes takes a few milliseconds. The table look-ups need not take constant time, because the key
is used once, on the machine that the response is for.
"""

import hmac


class NotAuthentic(Exception):
    """The tag is wrong: another key, another nonce, other associated data, or changed bytes."""


def open_sealed(key, nonce, data, tag, associated):
    """Checks the tag and returns the plain text. The key has 32 bytes, the nonce 12, the tag 16."""
    if len(key) != 32 or len(nonce) != 12 or len(tag) != 16:
        raise ValueError("AES-256-GCM takes a key of 32 bytes, a nonce of 12 and a tag of 16")
    block = _cipher(key)
    first = nonce + b"\0\0\0\1"
    ghash = _ghash(int.from_bytes(block(bytes(16)), "big"), associated, data)
    expected = bytes(a ^ b for a, b in zip(block(first), ghash.to_bytes(16, "big")))
    if not hmac.compare_digest(expected, tag):
        raise NotAuthentic("the sealed answer was not made with this key")
    plain = bytearray()
    for place in range(0, len(data), 16):
        stream = block(nonce + (2 + place // 16).to_bytes(4, "big"))
        plain += bytes(a ^ b for a, b in zip(data[place:place + 16], stream))
    return bytes(plain)


def _ghash(key, associated, data):
    total = 0
    lengths = (len(associated) * 8).to_bytes(8, "big") + (len(data) * 8).to_bytes(8, "big")
    for part in (associated, data, lengths):
        for place in range(0, len(part), 16):
            total = _times(total ^ int.from_bytes(part[place:place + 16].ljust(16, b"\0"), "big"), key)
    return total


def _times(x, y):
    """The product in GF(2^128) with GCM's bit order, in which the first bit is the highest."""
    product = 0
    for bit in range(127, -1, -1):
        if x >> bit & 1:
            product ^= y
        y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
    return product


def _double(byte):
    return (byte << 1 ^ (0x1B if byte & 0x80 else 0)) & 0xFF


def _substitution():
    """The S-box (FIPS 197, 5.1.1): the inverse in GF(2^8), then an affine map.

    The powers of 3 are all elements of the field, those of 0xF6 their inverses."""
    box = [0x63] * 256
    power = inverse = 1
    while True:
        power ^= _double(power)
        inverse ^= inverse << 1
        inverse ^= inverse << 2
        inverse ^= inverse << 4
        inverse &= 0xFF
        if inverse & 0x80:
            inverse ^= 0x09
        turned = inverse
        for turn in range(1, 5):
            turned ^= (inverse << turn | inverse >> 8 - turn) & 0xFF
        box[power] = turned ^ 0x63
        if power == 1:
            return bytes(box)


_BOX = _substitution()
_ROUNDS = 14
# ShiftRows: the source byte of each byte of the state, which is stored column by column.
_SHIFTED = [(place + 4 * (place % 4)) % 16 for place in range(16)]


def _cipher(key):
    """A function that encrypts one block with a key of 32 bytes."""
    words = [key[place:place + 4] for place in range(0, 32, 4)]
    constant = 1
    for number in range(8, 4 * (_ROUNDS + 1)):
        word = words[-1]
        if number % 8 == 0:
            word = bytes([_BOX[word[1]] ^ constant, _BOX[word[2]], _BOX[word[3]], _BOX[word[0]]])
            constant = _double(constant)
        elif number % 8 == 4:
            word = bytes(_BOX[byte] for byte in word)
        words.append(bytes(a ^ b for a, b in zip(word, words[-8])))
    keys = [b"".join(words[number:number + 4]) for number in range(0, len(words), 4)]

    def encrypt(block):
        state = [a ^ b for a, b in zip(block, keys[0])]
        for number in range(1, _ROUNDS + 1):
            state = [_BOX[state[place]] for place in _SHIFTED]
            if number < _ROUNDS:
                state = _mixed(state)
            state = [a ^ b for a, b in zip(state, keys[number])]
        return bytes(state)

    return encrypt


def _mixed(state):
    mixed = []
    for column in range(0, 16, 4):
        a, b, c, d = state[column:column + 4]
        every = a ^ b ^ c ^ d
        mixed += [a ^ every ^ _double(a ^ b), b ^ every ^ _double(b ^ c), c ^ every ^ _double(c ^ d), d ^ every ^ _double(d ^ a)]
    return mixed
