public import RegentHTTPClient
import RegentPairingWire

/// Why an `async` call of an ``AccessEnabler`` failed.
///
/// ``area`` tells an app what to do: sign in again, tell the viewer that the resource may not be watched, or try
/// later.
public struct EntitlementError: Error, Hashable, Sendable {
  /// What an app does about an error.
  public enum Area: Hashable, Sendable {
    /// This device is not signed in, or signing in failed.
    ///
    /// The app should start a sign-in.
    case authentication
    /// The viewer is signed in but may not watch this resource.
    ///
    /// The app should tell the viewer.
    case authorization
    /// The network, the service or the set-up is at fault.
    ///
    /// The app should tell the viewer and try again later.
    case other
  }

  /// The cause of an ``EntitlementError``.
  @nonexhaustive
  public enum Kind: Hashable, Sendable {
    case notAuthenticated
    /// An operator has disabled the account with which this device was signed in.
    ///
    /// Signing in again with this account does not help. When the account is enabled again, the next `configure` signs
    /// this device in without a code.
    case accountDisabled
    case cancelled
    /// The viewer denied the sign-in on the phone.
    case denied
    case codeExpired
    /// The registration code was withdrawn before its expiry: this device requested a newer one, or an operator
    /// withdrew it.
    case codeWithdrawn
    case temporaryPassExpired
    /// The provider is a promotional pass and needs data about the viewer, for example `email`.
    ///
    /// Pass the data to `getAuthentication`.
    case dataNeeded(provider: String)
    case unknownProvider(String)
    /// The provider does not allow the viewer to watch this resource.
    case notAuthorized
    /// The resource is rated above what the viewer may watch.
    case parentalControls
    /// The call names more resources than the provider allows.
    case tooManyResources
    /// The resource id of the call is malformed.
    case malformedResource
    /// The service does not know the requestor.
    case unknownRequestor
    /// The service does not accept the app's credentials.
    case notTrusted
    case unreachable
    /// No secure connection: a certificate is invalid, or the TLS handshake failed.
    ///
    /// ``fault`` has the exact reason.
    case unsafeConnection
    /// This device's clock is wrong, so certificates seem invalid.
    ///
    /// The SDK knows this from the time in earlier responses of a service.
    case clockWrong
    /// A captive portal, the sign-in page of a guest network, answered in place of the service.
    case captivePortal
    /// The app sends too many requests.
    case throttled
    /// The service answered with an error, or with a text that is not a response of this protocol.
    case service
    /// `setRequestor` was called for another requestor before this call ended.
    case superseded
    case notConfigured
    /// The call is not possible in the current state, for example renewing a code when none is shown.
    case outOfOrder
  }

  public var kind: Kind
  /// The code of the `status` callback for the same failure.
  public var status: StatusID?
  /// A message from the provider or the service, which may be shown to the viewer.
  public var message: String
  /// What the developer or the user can do about the error.
  public var hint: String?
  /// The TLS fault, if ``kind`` is `.unsafeConnection` or `.clockWrong`.
  public var fault: ClientError.TLSFault?
  /// How long the service asks the app to wait before the next request.
  public var retryAfter: Duration?

  public init(_ kind: Kind, status: StatusID? = nil, message: String = "", hint: String? = nil) {
    self.kind = kind
    self.status = status
    self.message = message
    self.hint = hint
  }

  /// What an app does about this error.
  public var area: Area {
    switch kind {
    case .notAuthenticated, .accountDisabled, .cancelled, .denied, .codeExpired, .codeWithdrawn,
      .temporaryPassExpired, .dataNeeded, .unknownProvider:
      .authentication
    case .notAuthorized, .parentalControls, .malformedResource: .authorization
    default: .other
    }
  }
}

extension EntitlementError: CustomStringConvertible {
  /// The error in one sentence that is safe to show to the viewer.
  public var description: String {
    // For a disabled account the service's message would only repeat `words`.
    let isEnough = message.isEmpty || kind == .accountDisabled || ErrorMessage.isPlain(message)
    return isEnough ? kind.words : "\(kind.words): \(message)"
  }
}

extension EntitlementError.Kind {
  var words: String {
    switch self {
    case .notAuthenticated: "not signed in"
    case .accountDisabled: "not signed in: the account is disabled at the provider"
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
