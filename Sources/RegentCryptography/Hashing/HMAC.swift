internal import RegentEncodings

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

    /// The length of a code in bytes.
    public var size: Int {
      switch self {
      case .sha1: 20
      case .sha256: 32
      }
    }

    /// How many bytes both hash at once.
    fileprivate static let blockSize = 64
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
    halves = Halves(algorithm, key)
  }

  /// The code of `message`.
  public func code(_ message: Span<UInt8>) -> [UInt8] {
    withCode(message) { [UInt8](copying: $0.span.extracting(first: algorithm.size)) }
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
    var state = halves.inner
    state.add(message)
    var code: [32 of UInt8] = .init(repeating: 0)
    state.finish(into: &code)
    state = halves.outer
    state.add(code.span.extracting(first: algorithm.size))
    state.finish(into: &code)
    state.wipe()
    return body(code)
  }
}

/// The hash states after the key, padded inside and outside.
// @unchecked Sendable:
// 1. Both states are written in `init` alone.
// 2. Afterwards they are only copied, until they are wiped when the last reference is gone.
@safe private final class Halves: @unchecked Sendable {
  private let states: UnsafeMutablePointer<SHAState>

  init(_ algorithm: HMACKey.Algorithm, _ key: Secret) {
    var padded = [UInt8](repeating: 0, count: HMACKey.Algorithm.blockSize)
    defer { wipe(&padded) }
    var inner = SHAState(algorithm)
    var outer = inner
    key.withBytes { key in
      if key.count > HMACKey.Algorithm.blockSize {
        var (long, hash) = (SHAState(algorithm), [32 of UInt8](repeating: 0))
        long.add(key)
        long.finish(into: &hash)
        long.wipe()
        for place in 0..<algorithm.size { padded[place] = hash[place] }
      } else {
        for place in key.indices { padded[place] = key[place] }
      }
    }
    for place in padded.indices { padded[place] ^= 0x36 }
    inner.add(padded.span)
    for place in padded.indices { padded[place] ^= 0x36 ^ 0x5C }
    outer.add(padded.span)
    unsafe states = .allocate(capacity: 2)
    unsafe states.initialize(to: inner)
    unsafe (states + 1).initialize(to: outer)
    inner.wipe()
    outer.wipe()
  }

  deinit {
    unsafe states[0].wipe()
    unsafe states[1].wipe()
    unsafe states.deallocate()
  }

  var inner: SHAState { unsafe states[0] }
  var outer: SHAState { unsafe states[1] }
}
