import RegentHTTPCodec
import HTTPServer
import PairingService
import RegentPlatform

/// Stands in for the service until it is ready.
///
/// The port is taken first, so that a second service says so before it touches anything; whoever comes in the moment
/// between is told to come again.
final class AdmissionHandler: Handler {
  private let next = Locked<(any Handler)?>(nil)

  func open(to handler: any Handler) { next.withLock { $0 = handler } }

  func handle(_ request: Request) -> Answer {
    if let handler = next.withLock({ $0 }) { return handler.handle(request) }
    return .now(ServiceRoutes.starting(request))
  }
}
