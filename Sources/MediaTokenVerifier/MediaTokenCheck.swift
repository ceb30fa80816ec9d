public import RegentPairing
import RegentPairingWire

/// What became of checking a token.
public struct MediaTokenCheck: Hashable, Sendable {
  /// The verdict: only `.valid` lets anything be played.
  public let verdict: MediaTokenVerdict
  /// What the token says; none unless its signature is good.
  public let contents: MediaTokenContents?

  init(_ verdict: MediaTokenVerdict, _ contents: MediaTokenContents? = nil) {
    self.verdict = verdict
    self.contents = contents
  }
}

/// The verdicts, with the numbers of the C interface.
@nonexhaustive
public enum MediaTokenVerdict: Int32, Hashable, Sendable, CaseIterable {
  /// `VALID_TOKEN`: play.
  case valid = 0
  /// `INVALID_TOKEN_FORMAT`: no token at all.
  case invalidFormat = 1
  /// `INVALID_SIGNATURE`: forged, damaged, or signed with a key that is not published.
  case invalidSignature = 2
  /// `TOKEN_EXPIRED`: its time is over, or has not come.
  case expired = 3
  /// `INVALID_RESOURCE_ID`: for something else than what is to be played.
  case invalidResource = 4
  /// `ERROR_UNKNOWN`: not checked, because there are no keys.
  case unknown = 5
  /// `INVALID_REQUESTOR_ID`: made for another requestor than the expected one, or an empty one was expected.
  case invalidRequestor = 6

  /// The name as documented.
  public var name: String {
    switch self {
    case .valid: "VALID_TOKEN"
    case .invalidFormat: "INVALID_TOKEN_FORMAT"
    case .invalidSignature: "INVALID_SIGNATURE"
    case .expired: "TOKEN_EXPIRED"
    case .invalidResource: "INVALID_RESOURCE_ID"
    case .unknown: "ERROR_UNKNOWN"
    case .invalidRequestor: "INVALID_REQUESTOR_ID"
    }
  }
}

/// What a token with a good signature says.
public struct MediaTokenContents: Hashable, Sendable {
  /// What may be played, as the app named it.
  public let resourceID: String
  /// Whose app.
  public let requestorID: String
  /// When it was made.
  public let timeIssued: Instant
  /// How long it lasts.
  public let timeToLive: Duration
  /// The viewer, hashed: the same value as in tracking data.
  public let userSessionGUID: String
  /// The provider.
  public let mvpdID: String
  /// The provider behind the provider.
  public let proxyMvpdID: String?
  /// Which of the published keys signed it.
  public let keyID: String

  init(_ token: MediaToken) {
    resourceID = token.resource
    requestorID = token.requestor
    timeIssued = token.issued
    timeToLive = token.lifetime
    userSessionGUID = token.sessionGUID
    mvpdID = token.provider
    proxyMvpdID = token.proxiedProvider
    keyID = token.keyID
  }

  /// When it ends.
  public var expires: Instant { timeIssued + timeToLive }
}
