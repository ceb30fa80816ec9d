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

  /// The address as people type it, without `https://`.
  static func words(_ url: AbsoluteURL) -> String {
    let text = url.scheme == "https" ? String(url.description.dropFirst(8)) : url.description
    return text.trimmingSlashes
  }
}
