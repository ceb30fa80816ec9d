public import RegentPairing
import RegentPairingWire

/// The result of checking a media token.
public struct MediaTokenCheck: Hashable, Sendable {
  /// The verdict.
  ///
  /// Play the resource only if it is `.valid`.
  public let verdict: MediaTokenVerdict
  /// The contents of the token, or `nil` if its signature is not valid.
  public let contents: MediaTokenContents?
  /// How far the token is dated after the verifier's clock, if it is refused for that; otherwise `nil`.
  ///
  /// Then the clocks of the service and of the verifier differ by about this much.
  public let ahead: Duration?

  init(_ verdict: MediaTokenVerdict, _ contents: MediaTokenContents? = nil, ahead: Duration? = nil) {
    self.verdict = verdict
    self.contents = contents
    self.ahead = ahead
  }

  /// The verdict's name, for logs; with the reason if the clocks differ.
  ///
  /// For example `TOKEN_EXPIRED: dated 40 s in the future: the clocks differ`.
  public var explanation: String {
    guard let ahead else { return verdict.name }
    return "\(verdict.name): dated \(ahead.components.seconds) s in the future: the clocks differ"
  }
}

/// The possible verdicts; the raw values are those of the C interface.
@nonexhaustive
public enum MediaTokenVerdict: Int32, Hashable, Sendable, CaseIterable {
  /// `VALID_TOKEN`: the resource may be played.
  case valid = 0
  /// `INVALID_TOKEN_FORMAT`: the text is not a media token.
  case invalidFormat = 1
  /// `INVALID_SIGNATURE`: forged, damaged, or signed with a key that is not published.
  case invalidSignature = 2
  /// `TOKEN_EXPIRED`: the token has expired, or was issued in the future.
  case expired = 3
  /// `INVALID_RESOURCE_ID`: the token is for another resource.
  case invalidResource = 4
  /// `ERROR_UNKNOWN`: the token could not be checked, because the verifier has no keys.
  case unknown = 5
  /// `INVALID_REQUESTOR_ID`: the token is for another requestor, or the expected requestor was an empty text.
  case invalidRequestor = 6

  /// The name of the verdict in the protocol's documentation.
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

/// The contents of a token whose signature is valid.
public struct MediaTokenContents: Hashable, Sendable {
  /// The resource that may be played, as the app named it.
  public let resourceID: String
  /// The requestor to whose app the token was issued.
  public let requestorID: String
  public let timeIssued: Instant
  public let timeToLive: Duration
  /// A hash that identifies the viewer, the same as in tracking data.
  public let userSessionGUID: String
  /// The provider with whose account the viewer signed in.
  public let mvpdID: String
  /// The provider that the viewer's provider is a proxy for, if any.
  public let proxyMvpdID: String?
  /// The id of the published key that signed the token.
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

  /// The time at which the token expires.
  public var expires: Instant { timeIssued + timeToLive }
}
