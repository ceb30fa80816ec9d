import RegentHTTPCodec
import HTTPServer
import PairingService
import RegentPlatform

/// Answers requests while the service starts: it tells clients to retry.
///
/// The port is bound before the database is opened, so that a second service fails before it touches any file. Requests
/// that arrive in between are told to retry.
final class AdmissionHandler: Handler {
  private let next = Locked<(any Handler)?>(nil)

  func open(to handler: any Handler) { next.withLock { $0 = handler } }

  func handle(_ request: Request) -> Answer {
    if let handler = next.withLock({ $0 }) { return handler.handle(request) }
    return .now(ServiceRoutes.starting(request))
  }
}
