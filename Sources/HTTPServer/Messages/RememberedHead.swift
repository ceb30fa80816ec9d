internal import Glibc
internal import RegentHTTPCodec

/// The words of a request that was read once, to tell whether the next one on its connection says the same.
///
/// The next request is parsed like every other before it is compared: only what a handler made of the words is spared.
public struct RememberedHead: Sendable {
  /// How a request differs from the remembered one.
  public enum Likeness: Sendable {
    /// Not in one byte of its head.
    case same
    /// In the value of `Authorization` alone.
    case otherCredentials
    /// In something else; or there is a body.
    case other
  }

  private let bytes: [UInt8]
  /// Where the value of the only `Authorization` stands.
  private let credentials: Range<Int>

  /// Keeps the head of a request without a body that has one `Authorization`, if it has `most` bytes at most.
  public init?(_ request: Request, atMost most: Int) {
    let storage = request.storage
    let head = storage.head
    guard head.count <= most, storage.body.isEmpty,
      case (let value?, false) = storage.parsed.table.single(.authorization, in: head.span)
    else { return nil }
    // A copy: the storage itself is used again.
    bytes = Array(head[...])
    credentials = value.indices
  }

  /// How a request's words differ.
  ///
  /// A value of `Authorization` has no line end. So the same bytes before it and behind it are the same header lines,
  /// and there is no second one.
  public func likeness(of request: Request) -> Likeness {
    let storage = request.storage
    guard storage.body.isEmpty else { return .other }
    return unsafe bytes.withUnsafeBytes { known in
      unsafe storage.head.withUnsafeBytes { head in
        guard let ours = known.baseAddress, let theirs = head.baseAddress else { return .other }
        if known.count == head.count, unsafe memcmp(ours, theirs, known.count) == 0 { return .same }
        let behind = known.count - credentials.upperBound
        guard let value = storage.parsed.table.fieldStarting(at: credentials.lowerBound),
          head.count - value.upperBound == behind,
          unsafe memcmp(ours, theirs, credentials.lowerBound) == 0,
          unsafe memcmp(ours + credentials.upperBound, theirs + value.upperBound, behind) == 0
        else { return .other }
        return .otherCredentials
      }
    }
  }

  /// Lends the credentials of a request that differs in nothing else, and the remembered ones.
  public func withCredentials<Result, Failure: Error>(
    of request: Request, _ read: (_ theirs: Span<UInt8>, _ known: Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let head = request.storage.head
    let end = head.count - (bytes.count - credentials.upperBound)
    return try read(head.span.extracting(credentials.lowerBound..<end), bytes.span.extracting(credentials))
  }
}

extension HeaderTable {
  /// The value that starts at a place of the head.
  fileprivate func fieldStarting(at place: Int) -> Range<Int>? {
    for field in fields where Int(field.value.start) == place && !field.value.isEmpty {
      return field.value.indices
    }
    return nil
  }
}
