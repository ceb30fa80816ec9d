public import RegentPairing

/// A wrong guess of a secret.
///
/// Nodes share wrong guesses, so that an attacker gets no more tries by spreading them over several nodes.
public struct WrongGuess: Hashable, Sendable {
  /// Which kind of secret was guessed, and by which kind of client.
  public enum Kind: Hashable, Sendable {
    /// A registration code, entered in a phone's browser.
    ///
    /// The viewer is nil when the browser is not signed in.
    case phone(Viewer?)
    /// A credential in an API request of an app of this requestor.
    case app(RequestorID)
    /// A software statement at registration, or client credentials at the token endpoint, from an app's installation.
    case client
    /// A secret, assertion, software statement or token of an OAuth client.
    case program
    /// The secret part of the code of a box invitation.
    case enrolment
  }

  public let kind: Kind
  public let source: SourceKey
  /// Identifies the guess.
  ///
  /// Every node counts a mark once, even if the guess is reported twice.
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
