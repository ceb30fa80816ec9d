// RegentCryptography: hashes, MACs, sealing, signatures and keys over OpenSSL 3. It knows no token of Regent; the
// targets above it decide what is signed and why.
//
// Rules for everything in this target:
// - Every public type except a hash in progress (`SHA256`) is Sendable, and threads may share its values. Keys are
//   immutable. The contexts that OpenSSL changes while it works live for one call and are never shared.
// - Secrets are stored in `Secret`, which has no `==` and whose description shows nothing. Compare secrets only with
//   `constantTimeEqual`.
// - Text is decoded strictly (`RegentEncodings`): each value has one spelling, and others are refused.
// - Algorithms are fetched from OpenSSL once (`Algorithms.swift`). The program stops if OpenSSL lacks one or if its
//   random generator fails, because no request could be served correctly then.
// - OpenSSL's errors are reported only as `LibraryError`, which also empties the error queue of the thread: the next
//   TLS read would take an old entry for its own failure.
