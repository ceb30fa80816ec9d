// MediaTokenVerifier: what a stream server links to check short media tokens offline. Owns the checks and the cache of
// published keys. The token's text form is PairingWire's, the signature check Cryptography's.
