import CommandKit
import RegentHTTPCodec

/// The options of every command.
///
/// Each can also be set as `REGENT_…` and in `agent.conf`.
enum AgentOptions {
  static let service = Input.repeated(
    "service", .webAddress, "the service's address; with several, all are tried at the same time")
  static let requestor = Input.option(
    "requestor", .text("R"), "the requestor's id at the service")
  static let publicKey = Input.option("public-key", .text("K"), "the key pair's id (the public key)")
  static let secretFile = Input.option(
    "secret-file", .file, "a file (mode 0600) with the key pair's secret")
  static let softwareStatement = Input.option(
    "software-statement", .file, "a file (mode 0600) with a software statement, instead of a key pair")
  static let authorities = Input.option(
    "ca-file", .file,
    "the certificate authorities to trust, in PEM (default: the system's, and SSL_CERT_FILE)")
  static let publicHost = Input.option(
    "public-host", .host, "the host that phones open, if it differs from --service")
  static let name = Input.option(
    "name", .text("NAME"), "the name of this box shown on the phone (default: the host name)")
  static let state = Input.option(
    "state", .folder, "the folder for tokens (default: in the user's state directory)")
  static let socket = Input.option(
    "socket", .file, "the daemon's socket (default: this user's, or the system's)"
  ).environment("REGENT_AGENT_SOCKET")
  static let configuration = Input.option(
    "config", .file, "the settings file (default: this user's agent.conf, or /etc/regent/agent.conf)")
  static let language = Input.option(
    "language", .choice("en", "it", "es", "ko"), "the language of the screen (default: the locale's)")

  static let profile = Input.option(
    "profile", .text("NAME"), "the application profile at the service, which may have its own limits")
  static let visitor = Input.option(
    "visitor-id", .text("ID"), "a visitor id to send with every call, for the service's reports")

  static let all: [any InputDeclaration] = [
    service, requestor, publicKey, secretFile, softwareStatement, authorities, publicHost, name, state, socket,
    configuration, language, profile, visitor,
  ]

  // The two halves of a key pair are not required together, because the secret may come from the settings file or
  // systemd.
  static let rules: [InputRule] = [.atMostOne([publicKey, softwareStatement])]
}

struct Assignment: Sendable, Equatable {
  var name: String
  var value: String
}

extension ValueKind where Value == Assignment {
  static var assignment: ValueKind {
    ValueKind("NAME=VALUE", show: { "\($0.name)=\($0.value)" }) { text throws(ValueProblem) in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
        throw ValueProblem("is not a name and a value", hint: "use the form NAME=VALUE, for example email=ADDRESS")
      }
      return Assignment(name: String(parts[0]), value: String(parts[1]))
    }
  }
}

extension ValueKind where Value == HostName {
  /// The type of an option that takes the name or address of a host, without scheme and port.
  static var host: ValueKind {
    ValueKind("HOST", show: { $0.description }) { text throws(ValueProblem) in
      guard let host = HostName(parsing: text) else {
        throw ValueProblem("is not a host", hint: "use a form such as tv.example.org or 192.0.2.7")
      }
      return host
    }
  }
}
