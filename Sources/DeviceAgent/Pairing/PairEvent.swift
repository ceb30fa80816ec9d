import CommandKit
import RegentJSON

/// An event that `regent pair` prints as one line, for a launcher or a person.
enum PairEvent: Sendable, Equatable {
  case code(ShownCode)
  case opened
  case match(Int)
  case authenticated(name: String?, provider: String?)
  /// The box was signed in before. In JSON, this event is printed like `authenticated`.
  case alreadySignedIn(name: String?, provider: String?)
  case denied
  /// The viewer denied the code or typed a wrong number. In JSON, this event is printed like `denied`.
  case deniedAtNumber
  case expired
  case error(AgentFailure)
}

/// An error, in forms for people and for programs.
struct AgentFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// An identifier of the error for programs.
  let code: String
  /// A sentence about the error for people.
  let message: String
  /// What the person at the box can do about the error.
  let hint: String?
  /// The problem as the screen shows it.
  let trouble: PairingObstacle

  var description: String { message }
}

extension PairEvent {
  /// The event as a JSON object.
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

  /// The lines that describe the event on a terminal on which no screen can be drawn.
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
