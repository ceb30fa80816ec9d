/// The parameters of the protocol, in query or form.
public enum Field {
  /// Whose app; also `requestor_id` on browser calls.
  public static let requestor = "requestor"
  /// Its signature by the programmer's private key, which older apps show with `config`.
  public static let signedRequestorID = "signedRequestorID"
  /// Whose app, on browser calls and `freepreview`.
  public static let requestorID = "requestor_id"
  public static let deviceID = "deviceId"
  /// Device information, when it is not in its header.
  public static let deviceInfo = "device_info"
  /// Deprecated: the kind of device.
  public static let deviceType = "deviceType"
  /// Deprecated: the device's user.
  public static let deviceUser = "deviceUser"
  /// Deprecated: the app.
  public static let appID = "appId"
  /// Older clients: the app's version.
  public static let appVersion = "appVersion"
  /// Older clients: the page that is shown beside the code.
  public static let registrationURL = "registrationURL"
  /// The provider that was chosen on the device.
  public static let provider = "mvpd"
  /// The provider, on browser calls and `freepreview`.
  public static let providerID = "mso_id"
  /// The code, on browser calls.
  public static let regcode = "reg_code"
  /// The domain of the page that began to sign in.
  public static let domainName = "domain_name"
  /// Where the browser goes afterwards.
  public static let redirectURL = "redirect_url"
  /// What shows on `/logout` that the device itself asks; see ``PairingHeader/logoutTicket``.
  public static let logoutTicket = "ticket"
  /// No Flash: always `true`.
  public static let noFlash = "noflash"
  /// No frame: always `true`.
  public static let noFrame = "no_iframe"
  /// How long a code is to live, in seconds.
  public static let lifetime = "ttl"
  /// `number`: number matching is wanted.
  public static let match = "match"
  /// Wait for what comes after this sequence.
  public static let after = "after"
  /// What is to be watched.
  public static let resource = "resource"
  /// What else the app has to say: the identity of a promotional pass, the `data` of a sign-in.
  public static let genericData = "generic_data"
  /// `json` or `xml`.
  public static let format = "format"
  /// A registered client's access token, when it is not in its header.
  public static let accessToken = "access_token"
  /// The integration's profile.
  public static let applicationProfile = "applicationProfile"
  /// A visitor id of the app's analytics.
  public static let visitorID = "visitorID"

  /// The box's word for a profile request, where the original has the platform's own.
  public static let platformResponse = "SAMLResponse"
  /// The public half of a box's key: SubjectPublicKeyInfo, in base64.
  public static let publicKey = "publicKey"
  /// An app on a box, by the name that the box's owner gave it.
  public static let app = "app"
  /// For which requestor an app on a box may use the box's account.
  public static let appRequestor = "appRequestor"
  /// `granted`, `denied`, `undetermined`, or `asked` when nobody decided.
  public static let permission = "permission"
  /// How long ago that was, in milliseconds.
  public static let decisionAge = "decisionAge"

  /// All of them: what has another name is the app's own, and must not speak for the call.
  public static let all: Set<String> = [
    requestor, signedRequestorID, requestorID, deviceID, deviceInfo, deviceType, deviceUser, appID,
    appVersion, registrationURL, provider, providerID, regcode, domainName, redirectURL, logoutTicket,
    noFlash, noFrame, lifetime, match, after, resource, genericData, format, accessToken, applicationProfile,
    visitorID, platformResponse, publicKey, app, appRequestor,
    permission, decisionAge,
  ]
}

/// The headers of the protocol that HTTP itself does not know.
public enum PairingHeader {
  /// Device information.
  public static let deviceInfo = "X-Device-Info"
  /// The device's address, from a programmer's server.
  public static let forwardedFor = "X-Forwarded-For"
  /// An id for this answer.
  public static let requestID = "Adobe-Request-Id"
  /// `full`: every resource was looked at.
  public static let responseConfidence = "Adobe-Response-Confidence"
  /// In the answer to a sign-out: with it the browser of the same viewer is signed out without a tap.
  public static let logoutTicket = "Regent-Logout-Ticket"
  /// The identity of a promotional pass.
  public static let temporaryPassIdentity = "AP-TempPass-Identity"
  /// A visitor id of the app's analytics.
  public static let visitorID = "AP-Visitor-Identifier"
  /// Who allowed it, unless the provider did: `temppass`, `degradation`; of a sign-in ``platformSource``.
  public static let decisionSource = "AP-Decision-Source"
  /// The sign-in came by the box's platform account.
  public static let platformSource = "platform"
  /// Why it was denied, for apps of requestors without enhanced errors (ours): the enhanced code.
  public static let decisionReason = "AP-Decision-Reason"
}
