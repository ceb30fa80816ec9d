internal import RegentHTTPCodec

/// Lets a service live below a path of its address: `/tv/D/CODE` is answered as `/D/CODE`.
///
/// Requests without the path are answered as they are, because many proxies take it away before they pass a request on.
public struct PathPrefixHandler<Next: Handler>: Handler {
  private let base: [UInt8]
  private let next: Next

  /// Puts itself before `next`; `base` begins with a slash and has none at its end, or is empty.
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
  /// The same request for the rest of its path; nil when the path does not begin with these steps.
  fileprivate func without(_ base: [UInt8]) -> Request? {
    let path = storage.parsed.path.indices
    let bytes = storage.head[path]
    guard bytes.starts(with: base) else { return nil }
    let rest = bytes.dropFirst(base.count)
    guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return nil }
    // Read anew: whoever looks at the target or lends the head finds the shorter path everywhere.
    let slash: [UInt8] = rest.isEmpty ? [UInt8(ascii: "/")] : []
    let head = storage.head[..<path.lowerBound] + slash + storage.head[rest.startIndex...]
    guard
      var request = try? Request(
        head: Array(head), body: storage.body, peer: storage.peer, isTLS: storage.isTLS,
        // It has been within the limits already.
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
