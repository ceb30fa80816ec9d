// PasswordHashing: passwords over libargon2, hashed on threads of its own and compared in constant time.
// A target of its own above the tools: the service hashes passwords, and a box that links the SDK must not need
// libargon2.
