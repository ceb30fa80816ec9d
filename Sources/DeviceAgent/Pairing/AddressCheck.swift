import RegentHTTPCodec

/// Decides which addresses the screen may show: those of the configured services and of the public host.
///
/// An attacker who answers in place of the service, or changes an unencrypted response, must not be able to put a QR
/// code on the screen. Viewers trust what the TV shows, so a link to the attacker's page would be effective phishing.
struct AddressCheck: Sendable {
  private let services: [AbsoluteURL]
  private let publicHost: HostName?

  init(services: [AbsoluteURL], publicHost: HostName?) {
    self.services = services
    self.publicHost = publicHost
  }

  /// The parsed address if the screen may show it; otherwise `nil`.
  func drawable(_ text: String) -> AbsoluteURL? {
    guard text.utf8.count <= 512, let url = try? AbsoluteURL(parsing: text),
      url.scheme == "https" || url.scheme == "http"
    else { return nil }
    if let publicHost, url.host == publicHost { return url }
    guard let service = services.first(where: { $0.host == url.host }) else { return nil }
    // A service with TLS has no reason to send the phone to an unencrypted page.
    guard service.scheme == "http" || url.scheme == "https" else { return nil }
    return url
  }

  /// The address with scheme and host in lower case.
  ///
  /// The link in a QR code has them in upper case.
  static func readable(_ link: String) -> String {
    (try? AbsoluteURL(parsing: link))?.description ?? link
  }

  /// Whether a phone can open the link only in the network of this box.
  static func isOfLocalNetwork(_ link: String) -> Bool {
    (try? AbsoluteURL(parsing: link))?.host.isOfLocalNetwork ?? false
  }

  /// The address as people type it, without `https://`.
  static func words(_ url: AbsoluteURL) -> String {
    let text = url.scheme == "https" ? String(url.description.dropFirst(8)) : url.description
    return text.trimmingSlashes
  }
}

extension HostName {
  /// Whether the host has an address that only the local network can reach: RFC 1918, a unique local or link-local
  /// address, or a name under `.local` (RFC 6762) or `home.arpa` (RFC 8375).
  var isOfLocalNetwork: Bool {
    switch self {
    case .name: isWithin(domain: "local") || isWithin(domain: "home.arpa")
    case .address(let address):
      address.isIPv4
        ? address.low >> 24 == 10 || address.low >> 20 == 0xAC1 || address.low >> 16 == 0xC0A8
          || address.low >> 16 == 0xA9FE
        : address.high >> 57 == 0x7E || address.isLinkLocal
    }
  }
}
