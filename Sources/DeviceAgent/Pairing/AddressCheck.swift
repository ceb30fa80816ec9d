import RegentHTTPCodec

/// Which addresses may be shown: those of the services that were configured, and of the public host.
///
/// Whoever answers in the service's place, or rewrites a plain-text answer, must not be able to put a QR code of their
/// own on the screen (a phishing page that everybody trusts because the TV shows it).
struct AddressCheck: Sendable {
  private let services: [AbsoluteURL]
  private let publicHost: HostName?

  init(services: [AbsoluteURL], publicHost: HostName?) {
    self.services = services
    self.publicHost = publicHost
  }

  /// The address, when it may be shown; `nil` otherwise.
  func drawable(_ text: String) -> AbsoluteURL? {
    guard text.utf8.count <= 512, let url = try? AbsoluteURL(parsing: text),
      url.scheme == "https" || url.scheme == "http"
    else { return nil }
    if let publicHost, url.host == publicHost { return url }
    guard let service = services.first(where: { $0.host == url.host }) else { return nil }
    // An encrypted service has no reason to send the phone to an unencrypted page.
    guard service.scheme == "http" || url.scheme == "https" else { return nil }
    return url
  }

  /// A whole address with scheme and host in the usual case: capitals are for QR codes.
  static func readable(_ link: String) -> String {
    (try? AbsoluteURL(parsing: link))?.description ?? link
  }

  /// The address as people type it.
  static func words(_ url: AbsoluteURL) -> String {
    let text = url.scheme == "https" ? String(url.description.dropFirst(8)) : url.description
    return text.trimmingSlashes
  }
}
