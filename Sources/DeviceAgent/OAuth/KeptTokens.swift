import RegentJSON
import RegentOAuth

/// The tokens of one sign-in at an OAuth server, as stored on the box's disk.
struct KeptTokens: Sendable, Equatable {
  var answer: TokenAnswer
  var received: KeptMoment

  /// The assumed lifetime of a token in seconds, if the server does not send one and the token can be renewed.
  static let usualLifetime: Int64 = 3_600
  /// How long before its end a token is renewed, in milliseconds, so that the request for which a program fetched it
  /// still succeeds.
  ///
  /// A token that lives less than ten times as long is renewed when a tenth of its life is left.
  static let margin: Int64 = 60_000

  /// The milliseconds until the token expires, or `nil` if that is unknown.
  func remaining(at now: KeptMoment) -> Int64? {
    guard let lifetime, let elapsed = received.elapsed(until: now) else { return nil }
    return lifetime * 1000 - elapsed
  }

  /// The token's lifetime in seconds, clamped because the server may send any number.
  private var lifetime: Int64? { answer.lifetime.map { min(max($0, 0), 100_000_000) } }

  /// Whether the token may be handed out without renewing it.
  func isFresh(at now: KeptMoment) -> Bool {
    let canRenew = answer.refreshToken != nil
    guard let lifetime else {
      guard canRenew else { return true }
      return (received.elapsed(until: now)).map { $0 < Self.usualLifetime * 1000 } ?? false
    }
    guard let left = remaining(at: now) else { return false }
    return left > (canRenew ? min(Self.margin, lifetime * 100) : 0)
  }

  var document: JSONValue {
    ["version": 1, "tokens": (try? JSONValue(reading: answer.bytes())) ?? .null, "received": received.document]
  }

  init(_ answer: TokenAnswer, at received: KeptMoment) {
    self.answer = answer
    self.received = received
  }

  init?(_ document: JSONValue) {
    guard document["version"]?.int64 == 1, let object = document["tokens"]?.object,
      let answer = try? TokenAnswer(reading: object), let received = KeptMoment(document["received"])
    else { return nil }
    self.init(answer, at: received)
  }
}

/// A registration code that waits for the viewer's approval.
///
/// It is stored so that the same code is still shown after a power cut.
struct PendingCode: Sendable, Equatable {
  var answer: JSONObject
  var begun: KeptMoment

  var document: JSONValue { ["version": 1, "answer": .object(answer), "begun": begun.document] }

  init(_ answer: JSONObject, at begun: KeptMoment) {
    self.answer = answer
    self.begun = begun
  }

  init?(_ document: JSONValue) {
    guard document["version"]?.int64 == 1, let answer = document["answer"]?.object,
      let begun = KeptMoment(document["begun"])
    else { return nil }
    self.init(answer, at: begun)
  }
}
