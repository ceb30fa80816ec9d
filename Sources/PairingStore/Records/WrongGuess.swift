public import RegentPairing

/// A wrong guess of a secret, such as a code or password.
///
/// Nodes share wrong guesses, so that an attacker gets no more tries by spreading them over several nodes.
public struct WrongGuess: Hashable, Sendable {
  /// The kind of secret that was guessed, and the kind of client that guessed it.
  public enum Kind: Hashable, Sendable {
    /// The wrong guess was a registration code, entered in a phone's browser.
    ///
    /// The viewer is nil when the browser is not signed in.
    case phone(Viewer?)
    /// The wrong guess was a credential in an app's API request.
    ///
    /// It is counted against the app's requestor.
    case app(RequestorID)
    /// The wrong guess came from an app's installation: a software statement at its registration, or client credentials
    /// at the token endpoint.
    case client
    /// The wrong guess was a secret, assertion, software statement or token of an OAuth client.
    case program
    /// The wrong guess was the secret part of the code of a box invitation.
    case enrolment
  }

  public let kind: Kind
  public let source: SourceKey
  /// An id of the guess.
  ///
  /// A node counts a guess with the same id once, even if it is reported twice.
  public let mark: Int64
  /// The age of the guess.
  ///
  /// Nodes exchange ages because the monotonic clocks of two machines cannot be compared.
  public var age: Duration

  public init(_ kind: Kind, from source: SourceKey, mark: Int64? = nil, age: Duration = .zero) {
    self.kind = kind
    self.source = source
    self.mark = mark ?? .random(in: .min ... .max)
    self.age = age
  }
}
