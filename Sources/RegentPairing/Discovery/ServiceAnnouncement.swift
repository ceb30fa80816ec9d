/// What a service says of itself on the local network, by DNS-SD (RFC 6763), so that a box finds its address.
///
/// Anybody in the network can say it: it proves nothing. A box believes a service by the enrolment code and by TLS.
public struct ServiceAnnouncement: Hashable, Sendable {
  /// What is looked for.
  public static let kind = "_regent._tcp"
  /// The version of the texts below.
  public static let version = "1"

  /// Whether the address begins with https.
  public let isEncrypted: Bool
  /// The host as it stands in a URL: the one that is in the certificate, not the name of the machine that says so.
  public let host: String
  public let port: UInt16
  /// At least a slash.
  public let path: String

  /// What a service announces.
  public init(isEncrypted: Bool, host: String, port: UInt16, path: String) {
    self.isEncrypted = isEncrypted
    self.host = host
    self.port = port
    self.path = path.isEmpty ? "/" : path
  }

  /// The texts beside the port: `NAME=VALUE`, each.
  public var texts: [String] {
    ["txtvers=\(Self.version)", "tls=\(isEncrypted ? 1 : 0)", "host=\(host)", "path=\(path)"]
  }

  /// Reads what somebody announces; none when a text is missing or twice, or says what this version does not know.
  ///
  /// - Parameters:
  ///   - port: where the service listens.
  ///   - texts: `NAME=VALUE` each; names that are not known here are for later versions, and passed over.
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

  /// The address as it is typed; what stands in it is as foreign as the texts are.
  public var address: String {
    let isUsual = port == (isEncrypted ? 443 : 80)
    return "http\(isEncrypted ? "s" : "")://\(host)\(isUsual ? "" : ":\(port)")\(path == "/" ? "" : path)"
  }
}
