import Testing

@testable import MediaTokenVerifier

@Suite("MediaTokenVerifier")
struct MediaTokenVerifierTests {}
