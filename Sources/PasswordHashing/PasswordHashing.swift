// PasswordHashing: hashes passwords with libargon2 on its own threads and compares them in constant time. It can also
// check hashes that other programs made (bcrypt with libcrypt, PBKDF2 with OpenSSL), but never makes new ones of these.
// It is a separate target because only the service needs libargon2 and libcrypt, not a box that links the SDK.
