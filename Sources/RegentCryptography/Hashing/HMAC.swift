/// A key for HMAC (RFC 2104) with one hash function, ready for many uses.
///
/// The two halves of the work that depend on the key alone are done once: a code for 200 bytes then costs a
/// third of a microsecond. May be used from many threads at once: the prepared halves are only read.
public final class HMACKey: Sendable {
  /// The hash functions.
  public enum Algorithm: Sendable, Equatable, CaseIterable {
    /// HMAC-SHA1, for wire formats that are defined so; 20 bytes. Not broken as a MAC, unlike SHA-1 itself.
    case sha1
    /// HMAC-SHA256; 32 bytes.
    case sha256

    var digest: Digest {
      switch self {
      case .sha1: .sha1
      case .sha256: .sha256
      }
    }

    /// The length of a code in bytes.
    public var size: Int { digest.size }
  }

  /// The hash function.
  public let algorithm: Algorithm
  /// How long the key is, in bytes.
  public let keyLength: Int
  private let halves: Halves

  /// A key of any length but none: an empty key would authenticate everybody.
  public convenience init(_ algorithm: Algorithm, _ key: Secret) throws(KeyError) {
    guard key.count > 0 else { throw .malformed("an HMAC key may not be empty") }
    self.init(algorithm, known: key)
  }

  init(_ algorithm: Algorithm, known key: Secret) {
    self.algorithm = algorithm
    keyLength = key.count
    halves = Halves(algorithm.digest, key)
  }

  /// The code of `message`.
  public func code(_ message: Span<UInt8>) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: algorithm.size)
    withCode(message) { code in
      for place in result.indices { result[place] = code[place] }
    }
    return result
  }

  /// The code of `message`.
  public func code(_ message: [UInt8]) -> [UInt8] { code(message.span) }

  /// The code of a text in UTF-8.
  public func code(_ text: String) -> [UInt8] { code(text.utf8.span) }

  /// True when `code` is the whole code of `message`; takes the same time wherever they differ.
  public func isValid(_ code: Span<UInt8>, for message: Span<UInt8>) -> Bool {
    withCode(message) { expected in
      constantTimeEqual(expected.span.extracting(first: algorithm.size), code)
    }
  }

  /// True when `code` is the whole code of `message`; takes the same time wherever they differ.
  public func isValid(_ code: [UInt8], for message: [UInt8]) -> Bool {
    isValid(code.span, for: message.span)
  }

  private func withCode<Result>(
    _ message: Span<UInt8>, _ body: (borrowing [32 of UInt8]) -> Result
  ) -> Result {
    let context = DigestContext(goingOnFrom: halves.inner)
    context.update(message)
    var code: [32 of UInt8] = .init(repeating: 0)
    var output = code.mutableSpan
    context.finish(into: &output)
    context.become(halves.outer)
    context.update(code.span.extracting(first: algorithm.size))
    var final = code.mutableSpan
    context.finish(into: &final)
    return body(code)
  }
}

/// The hash states after the key, padded inside and outside.
// @unchecked Sendable:
// 1. Both contexts are written in `init` alone.
// 2. Afterwards OpenSSL only copies from them, and its copy function takes its source as const.
@safe private final class Halves: @unchecked Sendable {
  let inner: DigestContext
  let outer: DigestContext

  init(_ digest: Digest, _ key: Secret) {
    inner = DigestContext(digest)
    outer = DigestContext(digest)
    var padded = [UInt8](repeating: 0, count: digest.blockSize)
    defer { wipe(&padded) }
    key.withBytes { key in
      if key.count > digest.blockSize {
        let context = DigestContext(digest)
        context.update(key)
        var front = padded.mutableSpan
        context.finish(into: &front)
      } else {
        for place in key.indices { padded[place] = key[place] }
      }
    }
    for place in padded.indices { padded[place] ^= 0x36 }
    inner.update(padded.span)
    for place in padded.indices { padded[place] ^= 0x36 ^ 0x5C }
    outer.update(padded.span)
  }
}
