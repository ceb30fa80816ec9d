/// How the service advertises itself on the local network by DNS-SD (RFC 6763), so that a box finds its address.
///
/// An announcement is not authenticated: any device on the network can send one. A box trusts a service because of
/// the enrolment code and TLS.
public struct ServiceAnnouncement: Hashable, Sendable {
  /// The DNS-SD service type of the announcement.
  public static let kind = "_regent._tcp"
  /// The version of the TXT record's format (`txtvers`).
  public static let version = "1"

  /// Whether the service's URL starts with `https`.
  public let isEncrypted: Bool
  /// The host in the service's URL, which is also in its certificate.
  ///
  /// It can differ from the announcing machine's name.
  public let host: String
  public let port: UInt16
  /// The path of the service's URL, at least `/`.
  public let path: String

  public init(isEncrypted: Bool, host: String, port: UInt16, path: String) {
    self.isEncrypted = isEncrypted
    self.host = host
    self.port = port
    self.path = path.isEmpty ? "/" : path
  }

  /// The strings of the announcement's TXT record, each `NAME=VALUE`.
  public var texts: [String] {
    ["txtvers=\(Self.version)", "tls=\(isEncrypted ? 1 : 0)", "host=\(host)", "path=\(path)"]
  }

  /// Reads an announcement; nil if a required string is missing or occurs twice, or if the version is not supported.
  ///
  /// - Parameters:
  ///   - port: the port on which the service listens.
  ///   - texts: the strings of the TXT record; unknown names are ignored, because later versions may add some.
  public init?(port: UInt16, texts: [String]) {
    var values: [String: String] = [:]
    for text in texts {
      guard let sign = text.firstIndex(of: "=") else { continue }
      let name = text[..<sign].lowercased()
      guard values.updateValue(String(text[text.index(after: sign)...]), forKey: name) == nil else { return nil }
    }
    guard port != 0, values["txtvers"] == Self.version, let tls = values["tls"], ["0", "1"].contains(tls),
      let host = values["host"], !host.isEmpty, let path = values["path"], path.hasPrefix("/")
    else { return nil }
    self.init(isEncrypted: tls == "1", host: host, port: port, path: path)
  }

  /// The service's URL.
  ///
  /// The URL is as untrusted as the announcement: any device on the network may have sent it.
  public var address: String {
    let isUsual = port == (isEncrypted ? 443 : 80)
    return "http\(isEncrypted ? "s" : "")://\(host)\(isUsual ? "" : ":\(port)")\(path == "/" ? "" : path)"
  }
}
