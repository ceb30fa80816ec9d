import CommandKit
import RegentCryptography
internal import RegentEncodings
import RegentHTTPCodec
import RegentJSON
import RegentPlatform

/// What tells one box from another, by the names of the options and in a form that can be compared.
///
/// A daemon that differs in what was given to a command is not the one that is meant: its answers would be about
/// somebody else's sign-in. A secret is compared without being told.
struct BoxIdentity: Sendable, Equatable {
  static let inputs: [any InputDeclaration] = [
    AgentOptions.service, AgentOptions.requestor, AgentOptions.publicKey, AgentOptions.secretFile,
    AgentOptions.softwareStatement, AgentOptions.state, AgentOptions.profile, AgentOptions.visitor,
  ]

  private(set) var values: [String: String]

  /// Some of what a box is.
  init(_ values: [String: String] = [:]) { self.values = values }

  /// All of what a box is with these settings, or only what was `given` with a command.
  init(_ settings: AgentSettings, onlyGiven: Bool) {
    values = [:]
    for name in Self.inputs.map(\.specification.name)
    where !onlyGiven || settings.given.contains(name) {
      values[name] = Self.value(name, settings)
    }
  }

  /// The options in which a box is another one than this says, in their order in help.
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
    // A folder that does not exist has no real path; its name as given has to do.
    case AgentOptions.state.specification.name: realPath(settings.state) ?? settings.state
    default:
      switch (try? settings.credentials(), name) {
      case (.keyPair(_, let secret), AgentOptions.secretFile.specification.name): proof(secret)
      case (.softwareStatement(let secret), AgentOptions.softwareStatement.specification.name):
        proof(secret)
      // What cannot be read is no daemon's; whoever needs it says why.
      default: ""
      }
    }
  }

  /// Says whether two have the same secret, and nothing about it: secrets are random and long.
  private static func proof(_ secret: Secret) -> String {
    let key = try? HMACKey(.sha256, secret)
    return key.map { Hex.encode($0.code("regent: the same box")) } ?? ""
  }
}

extension BoxIdentity {
  /// What travels over the daemon's socket.
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
