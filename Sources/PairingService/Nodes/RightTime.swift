package import HTTPServer
internal import PairingStore
internal import RegentHTTPCodec

/// Answers 503 for everything, as long as this node knows that its clock is wrong: others serve meanwhile.
///
/// By such a clock a refresh token, a code or a signature that is good is over, and whoever is told so throws it away.
/// What is mounted behind this cannot forget it.
package struct RightTime<Next: Handler>: Handler {
  private let core: ServiceCore
  private let page: @Sendable (Request) -> Response
  private let next: Next

  /// Puts itself before all routes of a service; `page` makes the answer where somebody looks at it.
  package init(_ core: ServiceCore, page: @escaping @Sendable (Request) -> Response, before next: Next) {
    self.core = core
    self.page = page
    self.next = next
  }

  package func handle(_ request: Request) -> Answer {
    guard core.nodeNews.isOutvoted, !isTimeless(request) else { return next.handle(request) }
    return .now(ServiceRoutes.unavailable(request, page: page))
  }

  /// Whether no time is needed for the answer: what a load balancer asks, files, and whether a page may ask at all.
  private func isTimeless(_ request: Request) -> Bool {
    let path = request.path
    return request.method == .options || path.elementsEqual("/healthz".utf8) || path.elementsEqual("/readyz".utf8)
      || path.starts(with: "/static/".utf8)
  }
}

extension ServiceCore {
  /// Before whatever is decided later than it was asked, as it was held or stands on the store.
  ///
  /// Others must be heard, and this node's clock must be right still.
  func requireToDecide() throws {
    try requireNews()
    if nodeNews.isOutvoted { throw CallError(.serviceUnavailable, retryAfter: RightTimePause.span) }
  }
}

/// When to ask again: whoever is sent to the same node then finds it out of the load balancer.
enum RightTimePause { static let span: Duration = .seconds(5) }
