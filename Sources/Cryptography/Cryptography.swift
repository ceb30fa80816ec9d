// Cryptography: hashes, MACs, sealing, signatures, passwords and their text forms over OpenSSL 3 and libargon2.
// Knows no token of Regent; what is signed and why is decided above.
