public import RegentPairing

/// The public key that a box has enrolled for single sign-on of its apps.
///
/// The box enrols the key with its own sign-in at the requestor of the box's maker. The key is valid as long as that
/// sign-in.
///
/// The row signature covers all columns. The column `public_key` holds ``rowKey``.
public struct BoxRecord: Hashable, Sendable {
  /// The id of the box, which its signed assertions and decisions name.
  public let id: BoxID
  /// The sign-in of the box itself, which its apps share.
  public let authentication: AuthenticationID
  /// The box's public key, as DER SubjectPublicKeyInfo.
  public let key: [UInt8]
  public let enrolled: Instant
  /// The key pair that signs this row, the same one that signs the row of the box's sign-in.
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

  /// What the id of a box begins with that signs each decision of the viewer with its key.
  ///
  /// The id says so, because the table has no column for it.
  public static let signing = "signing-"

  /// Whether the box signs each decision, which boxes of version 0.1.0 do not.
  public var signsDecisions: Bool { id.text.hasPrefix(Self.signing) }
}

/// A signed text of a box that counts once, by its id: an answer to a profile request, or a decision.
public struct UsedText: Hashable, Sendable {
  public let id: String
  public let ends: Instant

  public init(id: String, ends: Instant) {
    self.id = id
    self.ends = ends
  }

  /// A decision that a box has signed.
  ///
  /// The box's id is part of the stored id, because boxes choose the ids of their decisions.
  public init(decision id: String, of box: BoxID, ends: Instant) {
    self.init(id: "\(box.text) \(id)", ends: ends)
  }
}

/// A viewer's decision whether one app on a box may use the box's account.
///
/// The decision belongs to the box, not to the account that is signed in on it.
public struct PlatformPermissionRecord: Hashable, Sendable {
  /// The hash of the box's device id.
  public let device: DeviceHash
  /// The app, by the name that the box's software gives it.
  public let app: String
  /// The requestor for which the app wants to sign in.
  public let requestor: RequestorID
  /// Whether the viewer lets the app use the box's account.
  ///
  /// Nil when the app has asked and the viewer has not decided yet, or has withdrawn the decision.
  public var isGranted: Bool?
  /// The time of the viewer's decision by the service's clock; ``neverDecided`` for an app that has only asked.
  public var decided: Instant

  /// The time that a record has while the viewer has not decided.
  ///
  /// This time is before every decision, so that a record about an app's question never replaces a decision.
  public static let neverDecided = Instant(milliseconds: 0)

  public init(device: DeviceHash, app: String, requestor: RequestorID, isGranted: Bool?, decided: Instant) {
    self.device = device
    self.app = app
    self.requestor = requestor
    self.isGranted = isGranted
    self.decided = decided
  }

  /// The maximum number of viewer decisions that are kept for one box.
  ///
  /// The store refuses further ones.
  public static let mostOfBox = 256

  /// Whether this decision replaces the stored one.
  ///
  /// Viewers decide on the box and on the phone, and both may have been offline. The later decision wins. Of two
  /// decisions at the same time, a refusal wins.
  func holds(over there: PlatformPermissionRecord, at now: Instant) -> Bool {
    // The stored time lies in the future, so the clock was set back since. A decision that was made now replaces the
    // stored one, and so does any refusal.
    if there.decided > now { return decided >= now || isGranted == false }
    if decided != there.decided { return decided > there.decided }
    return isGranted == false && there.isGranted != false
  }

  /// Whether the viewer's decision rejects an app's request, or sign-in, that was made at this time.
  ///
  /// A withdrawn decision rejects everything from before the withdrawal. A later request is accepted without a stored
  /// decision. The box signs an assertion only after the viewer has allowed the app, and the assertion may reach the
  /// service before that decision does.
  public func refuses(whatIsFrom made: Instant) -> Bool {
    isGranted == false || (isGranted == nil && decided > Self.neverDecided && decided >= made)
  }

  func isAboutTheSame(as other: PlatformPermissionRecord) -> Bool {
    app.utf8.elementsEqual(other.app.utf8) && requestor == other.requestor
  }
}

/// A box's signed assertion that the store is to exchange for an app's sign-in.
///
/// The assertion has passed all checks that need no store.
public struct PlatformExchange: Hashable, Sendable {
  /// The id of the sign-in request that the assertion answers.
  ///
  /// Each request can be answered once.
  public let request: String
  /// When the service made the sign-in request, and until when it can be answered.
  public let requestMade: Instant
  public let requestEnds: Instant
  /// How long after its expiry the id of an answered request is still remembered.
  ///
  /// An old assertion therefore cannot be replayed after the clock was set back by less than this time.
  public static let remembrance: Duration = .seconds(3600)
  public let box: BoxID
  /// The public key that signed the assertion.
  public let key: [UInt8]
  public let provider: ProviderID
  public let app: String
  /// The requestor of the app, and the device that the app runs on.
  public let requestor: RequestorID
  public let device: DeviceID
  public let deviceHash: DeviceHash
  public let profile: ProfileName?
  public let about: DeviceDescription
  public let rowKey: PublicKey
  /// The id for the new sign-in, generated by the caller.
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

/// A box with its own sign-in and the sign-ins of its apps, as operators and the viewer see it in lists.
public struct BoxOverview: Hashable, Sendable {
  public let box: BoxRecord
  public let signIn: AuthenticationRecord
  public let apps: [AuthenticationRecord]

  /// The maximum number of sign-ins of one app on one box.
  ///
  /// One more sign-in ends the app's oldest. An app has one sign-in for each of its requestors. An app that invents
  /// device ids ends only its own sign-ins.
  public static let mostOfApp = 16
  /// The maximum number of sign-ins of all apps of a box together.
  ///
  /// The limit for one app does not suffice: the box names its apps, and its owner can invent names.
  public static let mostOfBox = 256

  public init(box: BoxRecord, signIn: AuthenticationRecord, apps: [AuthenticationRecord]) {
    self.box = box
    self.signIn = signIn
    self.apps = apps
  }
}
