public import RegentPairing

/// A wrong guess, as nodes tell each other: whoever guesses has no more tries at all of them than at one.
public struct WrongGuess: Hashable, Sendable {
  /// What was guessed at, and by whom.
  public enum Kind: Hashable, Sendable {
    /// A code, in a browser that may be signed in.
    case phone(Viewer?)
    /// A code, with what an app of this requestor calls with.
    case app(RequestorID)
    /// What an app's installation registers with, or asks for a token with.
    case client
    /// What a client of OAuth shows for itself.
    case program
    /// An enrolment code.
    case enrolment
  }

  public let kind: Kind
  public let source: SourceKey
  /// The same guess again has the same mark, at every node, and is counted once: also when it is told twice.
  public let mark: Int64
  /// How long ago that was: the boot clocks of two nodes have nothing to do with each other.
  public var age: Duration

  public init(_ kind: Kind, from source: SourceKey, mark: Int64? = nil, age: Duration = .zero) {
    self.kind = kind
    self.source = source
    self.mark = mark ?? .random(in: .min ... .max)
    self.age = age
  }
}
