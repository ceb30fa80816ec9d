import RegentJSON
import RegentOAuth

/// The tokens of one sign-in at a server of OAuth, as they lie on the box's disk.
struct KeptTokens: Sendable, Equatable {
  var answer: TokenAnswer
  var received: KeptMoment

  /// What a token is taken to last whose server does not say, in seconds, when there is another to be had.
  static let usualLifetime: Int64 = 3_600
  /// A token is renewed so long before its end, in milliseconds, that a call it was fetched for still succeeds; one
  /// that lives shorter than ten times that, when a tenth of its life is left.
  static let margin: Int64 = 60_000

  /// Milliseconds that it is good for; nil when nobody knows.
  func remaining(at now: KeptMoment) -> Int64? {
    guard let lifetime, let elapsed = received.elapsed(until: now) else { return nil }
    return lifetime * 1000 - elapsed
  }

  /// How many seconds the server gives it, as far as one reckons with them: it may have said any number.
  private var lifetime: Int64? { answer.lifetime.map { min(max($0, 0), 100_000_000) } }

  /// Whether it may be handed out as it is.
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

/// A code that waits for somebody's yes: kept, so that a power cut costs nobody a second walk to the phone.
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
