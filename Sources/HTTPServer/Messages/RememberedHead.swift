internal import Glibc
internal import RegentHTTPCodec

/// The head of an earlier request on a connection, to detect that the next request is the same.
///
/// The server still parses the next request like every other before the comparison. Only the handler saves work.
public struct RememberedHead: Sendable {
  /// How the head of a request differs from the remembered head.
  public enum Likeness: Sendable {
    /// The heads have the same bytes.
    case same
    /// Only the value of `Authorization` differs.
    case otherCredentials
    /// Another part of the heads differs, or the request has a body.
    case other
  }

  private let bytes: [UInt8]
  /// The position of the value of `Authorization` in the head.
  private let credentials: Range<Int>

  /// Stores the head of a request; nil if the request has a body, more than `most` bytes in the head, or not exactly
  /// one `Authorization`.
  public init?(_ request: Request, atMost most: Int) {
    let storage = request.storage
    let head = storage.head
    guard head.count <= most, storage.body.isEmpty,
      case (let value?, false) = storage.parsed.table.single(.authorization, in: head.span)
    else { return nil }
    // The head is copied, because its storage is used again for the next request.
    bytes = Array(head[...])
    credentials = value.indices
  }

  /// Compares a request with the remembered head.
  ///
  /// The value of `Authorization` contains no line end. If the bytes before and after it are the same, the header lines
  /// are the same, and there is no second `Authorization`.
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

  /// Calls `read` with the credentials of a request whose likeness is ``Likeness/otherCredentials``, and with the
  /// remembered credentials.
  public func withCredentials<Result, Failure: Error>(
    of request: Request, _ read: (_ theirs: Span<UInt8>, _ known: Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let head = request.storage.head
    let end = head.count - (bytes.count - credentials.upperBound)
    return try read(head.span.extracting(credentials.lowerBound..<end), bytes.span.extracting(credentials))
  }
}

extension HeaderTable {
  /// The range of the field value that starts at this position of the head.
  fileprivate func fieldStarting(at place: Int) -> Range<Int>? {
    for field in fields where Int(field.value.start) == place && !field.value.isEmpty {
      return field.value.indices
    }
    return nil
  }
}
