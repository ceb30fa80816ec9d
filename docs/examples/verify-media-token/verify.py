"""Checks a media token: verify.py LIBRARY KEYS_FILE RESOURCE, the token on standard input."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
library.media_token_verifier_from_file.restype = ctypes.c_void_p
library.media_token_verify.argtypes = [
    ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64]
VERDICTS = ["valid", "invalid format", "invalid signature", "expired", "invalid resource", "unknown"]

verifier = library.media_token_verifier_from_file(sys.argv[2].encode())
if not verifier:
    sys.exit("no usable key in " + sys.argv[2])
token = sys.stdin.readline().strip().encode()
verdict = library.media_token_verify(verifier, token, sys.argv[3].encode(), 0)
print(VERDICTS[verdict])
sys.exit(0 if verdict == 0 else 1)
