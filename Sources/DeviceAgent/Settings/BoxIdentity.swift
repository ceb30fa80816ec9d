import CommandKit
import RegentCryptography
internal import RegentEncodings
import RegentHTTPCodec
import RegentJSON
import RegentPlatform

/// The settings that distinguish one box from another, by option name and in a form that can be compared.
///
/// If the daemon's settings differ from those given to a command, the command must not use that daemon, because its
/// answers would be about another sign-in. Secrets are compared by an HMAC, without revealing them.
struct BoxIdentity: Sendable, Equatable {
  static let inputs: [any InputDeclaration] = [
    AgentOptions.service, AgentOptions.requestor, AgentOptions.publicKey, AgentOptions.secretFile,
    AgentOptions.softwareStatement, AgentOptions.state, AgentOptions.profile, AgentOptions.visitor,
  ]

  private(set) var values: [String: String]

  init(_ values: [String: String] = [:]) { self.values = values }

  /// Creates the identity from all settings, or only from those that were given to this command.
  init(_ settings: AgentSettings, onlyGiven: Bool) {
    values = [:]
    for name in Self.inputs.map(\.specification.name)
    where !onlyGiven || settings.given.contains(name) {
      values[name] = Self.value(name, settings)
    }
  }

  /// The options in which `other` differs from this identity, in the order of the help page.
  func differences(from other: BoxIdentity) -> [String] {
    Self.inputs.map(\.specification).filter { input in
      values[input.name].map { $0 != other.values[input.name] } ?? false
    }.map(\.label)
  }

  private static func value(_ name: String, _ settings: AgentSettings) -> String {
    switch name {
    case AgentOptions.service.specification.name:
      settings.services.map(\.description.trimmingSlashes).sorted().joined(separator: " ")
    case AgentOptions.requestor.specification.name: settings.requestor ?? ""
    case AgentOptions.profile.specification.name: settings.profile ?? ""
    case AgentOptions.visitor.specification.name: settings.visitor ?? ""
    case AgentOptions.publicKey.specification.name: settings.publicKey ?? ""
    // A folder that does not exist has no real path, so its name is used as given.
    case AgentOptions.state.specification.name: realPath(settings.state) ?? settings.state
    default:
      switch (try? settings.credentials(), name) {
      case (.keyPair(_, let secret), AgentOptions.secretFile.specification.name): proof(secret)
      case (.softwareStatement(let secret), AgentOptions.softwareStatement.specification.name):
        proof(secret)
      // Unreadable credentials equal those of no daemon. A command that needs them reports the error.
      default: ""
      }
    }
  }

  /// An HMAC of a fixed text with the secret.
  ///
  /// It shows whether two secrets are equal and nothing else, because secrets are long and random.
  private static func proof(_ secret: Secret) -> String {
    let key = try? HMACKey(.sha256, secret)
    return key.map { Hex.encode($0.code("regent: the same box")) } ?? ""
  }
}

extension BoxIdentity {
  /// The identity as JSON, as the daemon's socket sends it.
  var document: JSONValue {
    .object(
      JSONObject(
        values.sorted { $0.key < $1.key }.map { JSONObject.Member($0.key, .string($0.value)) }))
  }

  init?(_ document: JSONValue) {
    guard let object = document.object else { return nil }
    values = [:]
    for member in object.members {
      guard let text = member.value.string else { return nil }
      values[member.name] = text
    }
  }
}
