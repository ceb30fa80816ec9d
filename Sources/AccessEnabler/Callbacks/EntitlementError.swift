public import RegentHTTPClient
import RegentPairingWire

/// Why an `async` call of an ``AccessEnabler`` failed.
///
/// ``area`` tells the three kinds apart that an app treats differently: sign in again, tell the viewer no, try later.
public struct EntitlementError: Error, Hashable, Sendable {
  /// What an app does about it.
  public enum Area: Hashable, Sendable {
    /// Nobody is signed in, or signing in failed: begin with signing in.
    case authentication
    /// Somebody is signed in and may not watch this: say so.
    case authorization
    /// Network, service or set-up: say so, and try later.
    case other
  }

  /// What happened.
  @nonexhaustive
  public enum Kind: Hashable, Sendable {
    /// Nobody is signed in.
    case notAuthenticated
    /// The sign-in was cancelled.
    case cancelled
    /// The viewer said no on the phone.
    case denied
    /// The registration code's time ran out.
    case codeExpired
    /// The service gave the registration code up before its time: a later one of this device took its place, or an
    /// operator withdrew it.
    case codeWithdrawn
    /// The temporary pass has ended.
    case temporaryPassExpired
    /// The promotional pass wants to know for whom it is: give the data of `getAuthentication`, for example `email`.
    case dataNeeded(provider: String)
    /// There is no provider with this id.
    case unknownProvider(String)
    /// The provider does not let the viewer watch this.
    case notAuthorized
    /// Rated above what the viewer may see.
    case parentalControls
    /// More resources at once than the provider allows.
    case tooManyResources
    /// The resource cannot be one.
    case malformedResource
    /// The service does not know the requestor.
    case unknownRequestor
    /// The service does not accept the app's credentials.
    case notTrusted
    /// The service cannot be reached.
    case unreachable
    /// No safe connection: a certificate is wrong, or the handshake failed; `fault` says which.
    case unsafeConnection
    /// The clock of this device is wrong, so that no certificate is valid: the service's own clock says so.
    case clockWrong
    /// A guest network's sign-in page stands between this device and the service.
    case captivePortal
    /// Too many calls.
    case throttled
    /// The service answered, but with something that cannot be used: an error of its own, or no answer of this
    /// protocol.
    case service
    /// `setRequestor` was called for another requestor meanwhile.
    case superseded
    /// No `setRequestor` was called yet.
    case notConfigured
    /// The call comes at a time when it has no meaning.
    case outOfOrder
  }

  /// What happened.
  public var kind: Kind
  /// The code that `status` delivered with it.
  public var status: StatusID?
  /// The provider's own words, or what the service said; may be shown.
  public var message: String
  /// What to do about it.
  public var hint: String?
  /// What is wrong with the connection, when `kind` is `.unsafeConnection` or `.clockWrong`.
  public var fault: ClientError.TLSFault?
  /// How long the service wants to be left alone, when it said so.
  public var retryAfter: Duration?

  public init(_ kind: Kind, status: StatusID? = nil, message: String = "", hint: String? = nil) {
    self.kind = kind
    self.status = status
    self.message = message
    self.hint = hint
  }

  /// What an app does about it.
  public var area: Area {
    switch kind {
    case .notAuthenticated, .cancelled, .denied, .codeExpired, .codeWithdrawn,
      .temporaryPassExpired, .dataNeeded, .unknownProvider:
      .authentication
    case .notAuthorized, .parentalControls, .malformedResource: .authorization
    default: .other
    }
  }
}

extension EntitlementError: CustomStringConvertible {
  /// One sentence that is safe to show.
  public var description: String {
    message.isEmpty || ErrorMessage.isPlain(message) ? kind.words : "\(kind.words): \(message)"
  }
}

extension EntitlementError.Kind {
  var words: String {
    switch self {
    case .notAuthenticated: "not signed in"
    case .cancelled: "signing in was cancelled"
    case .denied: "signing in was denied on the phone"
    case .codeExpired: "the registration code has expired"
    case .codeWithdrawn: "the registration code was withdrawn"
    case .temporaryPassExpired: "the temporary pass has ended"
    case .dataNeeded(let id): "the promotional pass \(id) needs the viewer's identity"
    case .unknownProvider(let id): "there is no provider \(id)"
    case .notAuthorized: "this may not be watched"
    case .parentalControls: "parental controls do not allow this"
    case .tooManyResources: "too many titles in one request"
    case .malformedResource: "the resource is not well formed"
    case .unknownRequestor: "the service does not know this app's requestor"
    case .notTrusted: "the service does not accept this app's credentials"
    case .unreachable: "the service cannot be reached"
    case .unsafeConnection: "there is no safe connection to the service"
    case .clockWrong: "this device's clock is wrong"
    case .captivePortal: "this network requires you to sign in to it first"
    case .throttled: "the service is busy"
    case .service: "the service failed"
    case .superseded: "another requestor was set meanwhile"
    case .notConfigured: "no requestor was set yet"
    case .outOfOrder: "this call has no meaning now"
    }
  }
}
