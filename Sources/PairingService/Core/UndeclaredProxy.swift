internal import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPlatform

/// The last proxy that sent a request for a page and that no setting names, for `regentctl doctor`.
///
/// One address. Anyone on the internet can write a proxy's headers, so only addresses inside a home or a machine count:
/// a stranger cannot have doctor speak of a proxy that is none.
package final class UndeclaredProxy: Sendable {
  /// Headers of an earlier time say nothing: the settings may have been changed behind a proxy since.
  private static let span: Duration = .seconds(86_400)
  private let last = Locked<(address: IPAddress, at: Uptime)?>(nil)

  package init() {}

  func note(_ request: Request, at now: Uptime) {
    guard request.hasUndeclaredProxy, let address = request.peer.address,
      address.isNotOfTheInternet
    else { return }
    last.withLock { $0 = (address, now) }
  }

  /// The address, when it was seen within a day.
  func seen(at now: Uptime) -> IPAddress? {
    last.withLock { last in last.flatMap { now.since($0.at) < Self.span ? $0.address : nil } }
  }
}

extension IPAddress {
  /// Whether it is this machine's or a home's: behind a public name that is a proxy's address, or split DNS at home.
  var isNotOfTheInternet: Bool { isLoopback || HostName.address(self).isInsideAHome }
}
