// PasswordHashing: passwords hashed with libargon2 on threads of its own, and compared in constant time; what other
// programs hashed (bcrypt by libcrypt, PBKDF2 by OpenSSL) is compared, too, and made by nobody here.
// A target of its own above the tools: the service hashes passwords, and a box that links the SDK must not need
// libargon2 and libcrypt.
