package import HTTPServer
internal import PairingStore
internal import RegentHTTPCodec

/// Answers 503 to all requests while this node knows that its clock is wrong; other nodes serve meanwhile.
///
/// By a wrong clock, a valid refresh token, code or signature may look expired, and a client that is told so discards
/// it. The guard is a handler in front of all routes, so that it covers every route.
package struct ClockGuard<Next: Handler>: Handler {
  private let core: ServiceCore
  private let page: @Sendable (Request) -> Response
  private let next: Next

  /// Makes the handler.
  ///
  /// `page` makes the response for browsers.
  package init(_ core: ServiceCore, page: @escaping @Sendable (Request) -> Response, before next: Next) {
    self.core = core
    self.page = page
    self.next = next
  }

  package func handle(_ request: Request) -> Answer {
    guard core.nodeChangeFeed.isOutvoted, !isTimeless(request) else { return next.handle(request) }
    return .now(ServiceRoutes.unavailable(request, page: page))
  }

  /// Whether the response to the request does not depend on the time: health checks, static files and preflight
  /// requests.
  private func isTimeless(_ request: Request) -> Bool {
    let path = request.path
    return request.method == .options || path.elementsEqual("/healthz".utf8) || path.elementsEqual("/readyz".utf8)
      || path.starts(with: "/static/".utf8)
  }
}

extension ServiceCore {
  /// Throws when this node cannot decide a request correctly now: its feed of other nodes' changes is stale, or its
  /// clock was found wrong after the request arrived.
  ///
  /// Call it before deciding a request after a long poll or an access to the store.
  func requireToDecide() throws {
    try requireRecentChanges()
    if nodeChangeFeed.isOutvoted { throw CallError(.serviceUnavailable, retryAfter: ClockGuardPause.span) }
  }
}

/// The `Retry-After` of a node whose clock is wrong.
///
/// After that time, the load balancer has taken the node out of service.
enum ClockGuardPause { static let span: Duration = .seconds(5) }
