internal import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairing
internal import RegentPlatform

/// The last proxy that forwarded a request for a page although the settings do not name it, for `regentctl doctor`.
///
/// Only one address is kept. Any client on the internet can send a proxy's headers. Only addresses of this machine or
/// of a home network are therefore kept, so that an attacker cannot make doctor report a proxy that does not exist.
package final class UndeclaredProxy: Sendable {
  /// How long the observed proxy is reported: a day.
  ///
  /// After that, the settings may have been changed.
  private static let span: Duration = .seconds(86_400)
  private let last = Locked<(address: IPAddress, at: Uptime)?>(nil)
  /// When a request for a page came last from a proxy on a Unix socket that did not send its client's address.
  private let lastWithoutAddress = Locked<Uptime?>(nil)

  package init() {}

  func note(_ request: Request, at now: Uptime) {
    if request.peer.address == nil, request.clientAddress == nil { lastWithoutAddress.withLock { $0 = now } }
    guard request.hasUndeclaredProxy, let address = request.peer.address,
      address.isNotOfTheInternet
    else { return }
    last.withLock { $0 = (address, now) }
  }

  /// Whether a proxy on a Unix socket did not send its client's address within a day.
  func hidesAddresses(at now: Uptime) -> Bool {
    lastWithoutAddress.withLock { last in last.map { now.since($0) < Self.span } ?? false }
  }

  /// The address of the proxy that the settings do not name, if it was seen within a day.
  func seen(at now: Uptime) -> IPAddress? {
    last.withLock { last in last.flatMap { now.since($0.at) < Self.span ? $0.address : nil } }
  }
}

extension IPAddress {
  /// Whether this is an address of this machine or of a home network.
  ///
  /// If the service has a public name, requests from such an address come from a proxy, or from the home itself when
  /// its DNS resolves the name to a local address.
  var isNotOfTheInternet: Bool { isLoopback || HostName.address(self).isInsideAHome }
}
