"""Checks a media token: verify.py LIBRARY KEYS_FILE REQUESTOR RESOURCE, the token on standard input."""
import ctypes
import os
import sys
import time
import warnings

if len(sys.argv) not in (4, 5):
    sys.exit("usage: verify.py LIBRARY KEYS_FILE REQUESTOR RESOURCE < TOKEN")
library = ctypes.CDLL(sys.argv[1])
library.media_token_verifier_from_file.restype = ctypes.c_void_p
TEXT = ctypes.c_char_p
library.media_token_verify.argtypes = [ctypes.c_void_p, TEXT, TEXT, ctypes.c_int64]
library.media_token_verify_for.argtypes = [ctypes.c_void_p, TEXT, TEXT, TEXT, ctypes.c_int64]
library.media_token_field.argtypes = [ctypes.c_void_p, TEXT, TEXT, ctypes.c_char_p, ctypes.c_size_t]
library.media_token_field.restype = ctypes.c_ssize_t
VERDICTS = [
    "valid", "invalid format", "invalid signature", "expired", "invalid resource", "unknown", "invalid requestor"]

keys, *expected = [os.fsencode(argument) for argument in sys.argv[2:]]
if len(expected) == 1:
    warnings.warn("name the REQUESTOR before the RESOURCE: without it tokens of every requestor are accepted",
                  DeprecationWarning)
verifier = library.media_token_verifier_from_file(keys)
if not verifier:
    sys.exit("no usable key in " + sys.argv[2])
token = sys.stdin.readline().strip().encode()
if len(expected) == 1:
    verdict = library.media_token_verify(verifier, token, expected[0], 0)
else:
    verdict = library.media_token_verify_for(verifier, token, expected[0], expected[1], 0)
reason = VERDICTS[verdict]
if reason == "expired":
    # A token that is dated in the future has not expired: the clocks of the service and of this machine differ.
    issued = ctypes.create_string_buffer(32)
    if library.media_token_field(verifier, token, b"timeIssued", issued, len(issued)) > 0:
        ahead = (int(issued.value) - int(time.time() * 1000)) // 1000
        if ahead > 0:
            reason = f"dated {ahead} s in the future: the clocks differ"
print(reason)
sys.exit(0 if verdict == 0 else 1)
