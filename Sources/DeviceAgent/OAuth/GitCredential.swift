import CommandKit
import RegentHTTPCodec

/// The input of a git credential helper, one `name=value` a line (gitcredentials(7)).
///
/// git asks a helper for every server for which it is configured, often for all servers. A token is therefore given
/// only for the one place that the user named, and only for an encrypted or local connection.
struct GitCredential: Sendable, Equatable {
  private(set) var scheme = ""
  private(set) var host = ""
  private(set) var user: String?
  private(set) var password: String?

  static let limit = 65_536

  init(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let value = String(decoding: line[line.index(after: sign)...], as: UTF8.self)
      switch String(decoding: line[..<sign], as: UTF8.self) {
      case "protocol": scheme = value
      case "host": host = value
      case "username": user = value.isEmpty ? nil : value
      case "password": password = value.isEmpty ? nil : value
      default: break
      }
    }
  }

  /// Whether git asks for the credentials of this place, over TLS or on this machine.
  func isFor(_ place: AbsoluteURL) -> Bool {
    guard let asked = try? AbsoluteURL(parsing: "\(scheme)://\(host)") else { return false }
    let isSafe = asked.scheme == "https" || asked.host.isLoopback
    return isSafe && asked.origin == place.origin
  }

  /// The output of the credential helper, one `name=value` a line.
  func lines(_ grant: OAuthGrant) -> [String] {
    var lines = ["username=\(user ?? "oauth2")", "password=\(grant.token)"]
    if let expires = grant.expires { lines.append("password_expiry_utc=\(expires / 1000)") }
    return lines
  }
}
