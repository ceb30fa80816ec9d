/// Sets the client address, scheme and host of a request from the headers of trusted proxies, then calls another
/// handler.
public struct ForwardedHandler<Next: Handler>: Handler {
  private let proxies: TrustedProxies
  private let next: Next

  /// Makes a handler that passes the changed request to `next`.
  public init(trusting proxies: TrustedProxies, before next: Next) {
    self.proxies = proxies
    self.next = next
  }

  public func handle(_ request: Request) -> Answer {
    // The peer is checked first, so that requests without a proxy do not pay for reading the headers.
    guard !proxies.isEmpty, proxies.trusts(request.peer.address) else {
      return next.handle(request)
    }
    let socket = ClientOrigin(
      address: request.peer.address, scheme: request.isTLS ? .https : .http)
    let origin = proxies.origin(of: socket, claimed: request.forwardedHeaders)
    var request = request
    request.isFromTrustedProxy = true
    request.clientAddress = origin.address
    request.isSecure = origin.scheme == .https
    request.forwardedHost = origin.forwardedHost
    return next.handle(request)
  }
}
