import RegentHTTPCodec

/// A call on the client's thread, from start to completion, with all its retries and redirects.
final class Call {
  enum Carrier { case unassigned, resolver, plain, tls }

  let ticket: CallTicket
  /// The request as it is sent next; a redirect changes it.
  var request: ClientRequest
  /// The part of the client that works on the call now.
  var carrier = Carrier.unassigned
  var phase = ClientError.Phase.connecting
  /// Whether the call needs a new connection.
  ///
  /// The server may have closed a kept connection unnoticed. The call is then repeated once on a new connection.
  var needsNewConnection: Bool
  /// The reason why a certificate was refused, while the client asks the server for its time to find out whether this
  /// machine's clock is wrong.
  var doubt: ClientError.TLSFault?
  /// The proxy through which the current request is sent; nil for none.
  var proxy: ProxyAddress?
  /// The time on the boot-time clock by which the server must be reached: the end of look-up, connection and TLS
  /// handshake.
  var reachEnd = UInt64.max
  private var redirectsSeen = 0

  init(_ ticket: CallTicket) {
    self.ticket = ticket
    request = ticket.request
    needsNewConnection = ticket.request.usesNewConnection
  }

  var origin: Origin { request.url.origin }

  /// The host to connect to: the proxy's or the server's.
  var place: HostAndPort {
    proxy.map { HostAndPort(host: $0.host, port: $0.port) } ?? HostAndPort(host: origin.host, port: origin.port)
  }

  /// The bytes of the request for a plain connection; a proxy needs the absolute URL (RFC 9112 section 3.2.2).
  var encodedRequest: [UInt8] { request.encoded(toProxy: proxy != nil) }

  /// Decides whether a response ends the call.
  ///
  /// - Returns: true if the call must follow a redirect; `request` then has the new URL.
  func follows(_ response: ClientResponse) throws(ClientError.Kind) -> Bool {
    guard case .follow(let most) = ticket.request.redirects,
      [301, 302, 303, 307, 308].contains(response.status.rawValue),
      let location = response.header(.location)
    else { return false }
    redirectsSeen += 1
    guard redirectsSeen <= most else {
      throw .redirectRefused("more than \(most) redirects one after another")
    }
    let next: ClientURL
    do throws(ClientError) {
      next = try request.url.resolving(location)
    } catch {
      throw .redirectRefused("the new address cannot be called")
    }
    guard next.origin.scheme == origin.scheme else {
      throw .redirectRefused("from \(origin) to \(next.origin)")
    }
    try redirect(to: next, status: response.status.rawValue)
    return true
  }

  private func redirect(to next: ClientURL, status: UInt16) throws(ClientError.Kind) {
    let changesToGet =
      status == 303 && request.method != .head
      || (status == 301 || status == 302) && request.method == .post
    let leaves = next.origin != origin
    if changesToGet {
      request.method = .get
      request.body = []
      request.removeHeaders([.contentType, HeaderName(literal: "Content-Encoding")])
    } else if leaves, !request.body.isEmpty {
      throw .redirectRefused("it would send the body to \(next.origin)")
    }
    // The redirect leads to another host, which must not receive the credentials for the first one.
    if leaves { request.removeHeaders([.authorization, .cookie]) }
    request.url = next
    needsNewConnection = ticket.request.usesNewConnection
  }
}
