// RegentCryptography: hashes, MACs, sealing, signatures and keys over OpenSSL 3.
// Knows no token of Regent; what is signed and why is decided above.
//
// Rules that hold for everything here:
// - Everything public but a hash in progress (`SHA256`) is Sendable and may be used from any number of threads at
//   once. Keys are immutable after they were made; what OpenSSL changes while it works (contexts) lives for one
//   call and is never shared.
// - Secrets are in `Secret`, which has no `==` and no telling description. One function compares:
//   `constantTimeEqual`.
// - Text is decoded strictly (`RegentEncodings`): one value has one spelling, or it is refused.
// - Algorithms are fetched from OpenSSL once (`Algorithms.swift`); an OpenSSL that lacks one stops the program,
//   as does a random generator that fails: neither can be answered to a client.
// - Errors leave OpenSSL through `LibraryError` alone, which also empties the error queue of the thread: a stale
//   entry there would be taken for a failure of the next TLS read.
