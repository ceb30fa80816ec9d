internal import RegentHTTPCodec

/// Serves requests below a base path: with the base `/tv`, `/tv/D/CODE` is handled as `/D/CODE`.
///
/// Requests without the base path are passed on unchanged, because many proxies remove it.
public struct PathPrefixHandler<Next: Handler>: Handler {
  private let base: [UInt8]
  private let next: Next

  /// Makes a handler that calls `next`; `base` is empty, or begins with a slash and does not end with one.
  public init(_ base: String, _ next: Next) {
    self.base = Array(base.utf8)
    self.next = next
  }

  public func handle(_ request: Request) -> Answer {
    guard !base.isEmpty else { return next.handle(request) }
    return next.handle(request.without(base) ?? request)
  }
}

extension Request {
  /// The request with `base` removed from its path; nil if the path is not below `base`.
  fileprivate func without(_ base: [UInt8]) -> Request? {
    let path = storage.parsed.path.indices
    let bytes = storage.head[path]
    guard bytes.starts(with: base) else { return nil }
    let rest = bytes.dropFirst(base.count)
    guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
    // The head is parsed again, so that the target, the path and the head all have the shorter path.
    let slash: [UInt8] = rest.isEmpty ? [UInt8(ascii: "/")] : []
    let head = storage.head[..<path.lowerBound] + slash + storage.head[rest.startIndex...]
    guard
      var request = try? Request(
        head: Array(head), body: storage.body, peer: storage.peer, isTLS: storage.isTLS,
        // The original head was within the limits, so the shorter one is too.
        limits: HeadLimits(line: .max, fields: .max, count: .max))
    else { return nil }
    request.clientAddress = clientAddress
    request.isSecure = isSecure
    request.forwardedHost = forwardedHost
    request.isFromTrustedProxy = isFromTrustedProxy
    request.remembered = remembered
    return request
  }
}
