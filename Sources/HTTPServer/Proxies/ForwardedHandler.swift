/// Sets a request's client address and scheme to what trusted proxies vouch for, then lets another handler answer.
public struct ForwardedHandler<Next: Handler>: Handler {
  private let proxies: TrustedProxies
  private let next: Next

  /// Puts itself before `next`.
  public init(trusting proxies: TrustedProxies, before next: Next) {
    self.proxies = proxies
    self.next = next
  }

  public func handle(_ request: Request) -> Answer {
    // The check comes first: requests that no proxy sent pay nothing for the headers.
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
