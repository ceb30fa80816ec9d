import CommandKit
import RegentJSON

/// What `regent pair` tells a launcher, one line each.
enum PairEvent: Sendable, Equatable {
  case code(ShownCode)
  case opened
  case match(Int)
  case authenticated(name: String?, provider: String?)
  /// For launchers the same as `authenticated`.
  case alreadySignedIn(name: String?, provider: String?)
  case denied
  /// For launchers the same as `denied`.
  case deniedAtNumber
  case expired
  case error(AgentFailure)
}

/// Something that went wrong, for people and for programs.
struct AgentFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// A word for programs.
  let code: String
  /// A sentence.
  let message: String
  /// What to do.
  let hint: String?
  /// What the screen says about it.
  let trouble: PairingObstacle

  var description: String { message }
}

extension PairEvent {
  /// The line of `--json`.
  var document: JSONValue {
    switch self {
    case .code(let code):
      [
        "event": "code", "code": .string(code.code), "display": .string(code.display),
        "url": .string(code.link), "address": .string(code.address),
        "expires": .integer(code.expires),
      ]
    case .opened: ["event": "opened"]
    case .match(let number): ["event": "match", "number": .integer(Int64(number))]
    case .authenticated(let name, let provider), .alreadySignedIn(let name, let provider):
      .object(
        JSONObject(
          [
            JSONObject.Member("event", "authenticated"),
            name.map { JSONObject.Member("name", .string($0)) },
            provider.map { JSONObject.Member("provider", .string($0)) },
          ].compactMap(\.self)))
    case .denied, .deniedAtNumber: ["event": "denied"]
    case .expired: ["event": "expired"]
    case .error(let failure):
      .object(
        JSONObject(
          [
            JSONObject.Member("event", "error"), JSONObject.Member("code", .string(failure.code)),
            JSONObject.Member("message", .string(failure.message)),
            failure.hint.map { JSONObject.Member("hint", .string($0)) },
          ].compactMap(\.self)))
    }
  }

  /// The lines for people whose terminal cannot be drawn on.
  func lines(_ texts: Texts) -> [String] {
    switch self {
    case .code(let code):
      [
        texts[.reader, ["code": code.display, "address": code.address]],
        "\(texts[.orOpen]) \(AddressCheck.readable(code.link))",
      ]
    case .opened: [texts[.connected]]
    case .match(let number): ["\(texts[.chooseNumber]): \(number)"]
    case .alreadySignedIn(let name, let provider):
      [texts[.alreadySignedIn]]
        + PairEvent.authenticated(name: name, provider: provider).lines(texts)
        + [texts[.signInAnew]]
    case .authenticated(let name, let provider):
      [name.map { texts[.signedInAs, ["name": $0]] } ?? texts[.signedIn]]
        + (provider.map { [texts[.signedInProvider, ["provider": $0]]] } ?? [])
    case .denied: [texts[.denied]]
    case .deniedAtNumber: [texts[.deniedAtNumber]]
    case .expired: [texts[.expired]]
    case .error(let failure): [failure.message] + (failure.hint.map { ["  hint: \($0)"] } ?? [])
    }
  }
}
