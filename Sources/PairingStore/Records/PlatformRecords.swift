public import RegentPairing

/// The key of a box.
///
/// The box enrols it with its own sign-in at the requestor of the box's maker, and it is valid as long as that sign-in
/// is.
///
/// The row signature covers all columns. The column `public_key` holds ``rowKey``.
public struct BoxRecord: Hashable, Sendable {
  /// The id that the box's signed assertions name.
  public let id: BoxID
  /// The sign-in of the box itself, which its apps share.
  public let authentication: AuthenticationID
  /// The public key, as DER SubjectPublicKeyInfo.
  public let key: [UInt8]
  public let enrolled: Instant
  /// The key pair that signs this row: the row key of the box's sign-in.
  public let rowKey: PublicKey

  public init(
    id: BoxID, authentication: AuthenticationID, key: [UInt8], enrolled: Instant, rowKey: PublicKey
  ) {
    self.id = id
    self.authentication = authentication
    self.key = key
    self.enrolled = enrolled
    self.rowKey = rowKey
  }
}

/// A viewer's decision about one app on a box.
///
/// It belongs to the box, not to the account that is signed in on it.
public struct PlatformPermissionRecord: Hashable, Sendable {
  /// The hash of the box's device id.
  public let device: DeviceHash
  /// The app, by the name that the box's software gives it.
  public let app: String
  /// The requestor for which the app wants to sign in.
  public let requestor: RequestorID
  /// Nil when the app has asked and the viewer has not decided yet, or has withdrawn the decision.
  public var isGranted: Bool?
  /// The time of the decision by the service's clock; ``neverDecided`` for an app that has only asked.
  public var decided: Instant

  /// A time before every decision, so that an app's question never replaces a decision.
  public static let neverDecided = Instant(milliseconds: 0)

  public init(device: DeviceHash, app: String, requestor: RequestorID, isGranted: Bool?, decided: Instant) {
    self.device = device
    self.app = app
    self.requestor = requestor
    self.isGranted = isGranted
    self.decided = decided
  }

  /// The most decisions that are kept for one box.
  ///
  /// The store refuses further ones.
  public static let mostOfBox = 256

  /// Whether this decision replaces an earlier one.
  ///
  /// Viewers decide on the box and on the phone, and both may have been offline: the later decision wins; of two
  /// decisions at the same time, a refusal wins.
  func holds(over there: PlatformPermissionRecord, at now: Instant) -> Bool {
    // The stored time lies in the future, so the clock was set back since. A decision made now, or any refusal,
    // replaces it.
    if there.decided > now { return decided >= now || isGranted == false }
    if decided != there.decided { return decided > there.decided }
    return isGranted == false && there.isGranted != false
  }

  /// Whether the viewer's decision rejects an app's request, or sign-in, that was made at this time.
  ///
  /// A withdrawn decision rejects everything from before the withdrawal. For a later request nil suffices: the box
  /// signs an assertion only after the viewer has allowed the app, and the service may hear of that later than of the
  /// assertion.
  public func refuses(whatIsFrom made: Instant) -> Bool {
    isGranted == false || (isGranted == nil && decided > Self.neverDecided && decided >= made)
  }

  func isAboutTheSame(as other: PlatformPermissionRecord) -> Bool {
    app.utf8.elementsEqual(other.app.utf8) && requestor == other.requestor
  }
}

/// A box's assertion that is to become an app's sign-in.
///
/// All checks that need no store have passed.
public struct PlatformExchange: Hashable, Sendable {
  /// The id of the sign-in request that the assertion answers.
  ///
  /// Each request can be answered once.
  public let request: String
  /// When the service made the request, and until when it can be answered.
  public let requestMade: Instant
  public let requestEnds: Instant
  /// How long after its end a request id is still remembered as answered.
  ///
  /// If the clock is set back by less than this, an old assertion cannot be replayed.
  public static let remembrance: Duration = .seconds(3600)
  public let box: BoxID
  /// The key that signed the assertion.
  public let key: [UInt8]
  public let provider: ProviderID
  public let app: String
  /// The app's requestor and the device that it runs on.
  public let requestor: RequestorID
  public let device: DeviceID
  public let deviceHash: DeviceHash
  public let profile: ProfileName?
  public let about: DeviceDescription
  public let rowKey: PublicKey
  /// The id for the new sign-in, drawn by the caller.
  public let authentication: AuthenticationID

  public init(
    request: String, requestMade: Instant, requestEnds: Instant, box: BoxID, key: [UInt8], provider: ProviderID,
    app: String,
    requestor: RequestorID, device: DeviceID, deviceHash: DeviceHash, profile: ProfileName?,
    about: DeviceDescription, rowKey: PublicKey, authentication: AuthenticationID
  ) {
    self.request = request
    self.requestMade = requestMade
    self.requestEnds = requestEnds
    self.box = box
    self.key = key
    self.provider = provider
    self.app = app
    self.requestor = requestor
    self.device = device
    self.deviceHash = deviceHash
    self.profile = profile
    self.about = about
    self.rowKey = rowKey
    self.authentication = authentication
  }
}

/// A box with its sign-in and its apps' sign-ins, for operators and for the viewer's own list.
public struct BoxOverview: Hashable, Sendable {
  public let box: BoxRecord
  public let signIn: AuthenticationRecord
  public let apps: [AuthenticationRecord]

  /// The most sign-ins of one app on one box.
  ///
  /// A further one ends the app's oldest.
  ///
  /// An app has one sign-in for each of its requestors. An app that invents device ids ends only its own sign-ins.
  public static let mostOfApp = 16
  /// The most sign-ins of all apps of a box together.
  ///
  /// It is needed because the box names its apps, and its owner can invent names.
  public static let mostOfBox = 256

  public init(box: BoxRecord, signIn: AuthenticationRecord, apps: [AuthenticationRecord]) {
    self.box = box
    self.signIn = signIn
    self.apps = apps
  }
}
