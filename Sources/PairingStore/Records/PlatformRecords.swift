public import RegentPairing

/// The key of a box, enrolled with the box's own sign-in at the box maker's requestor, and good as long as that stands.
///
/// Signed columns: all of them; `public_key` is ``rowKey``.
public struct BoxRecord: Hashable, Sendable {
  /// What the box names itself by in its word.
  public let id: BoxID
  /// The box's own sign-in.
  public let authentication: AuthenticationID
  /// The public half, as SubjectPublicKeyInfo.
  public let key: [UInt8]
  public let enrolled: Instant
  /// The key pair that signs this row: that of its sign-in.
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

/// What the viewer decided about an app on a box: kept for the box, whoever is signed in on it.
public struct PlatformPermissionRecord: Hashable, Sendable {
  /// The box.
  public let device: DeviceHash
  /// The app, by the box owner's name for it.
  public let app: String
  /// For whom the app asks.
  public let requestor: RequestorID
  /// Nil when nobody has decided: the app asked, or a decision was taken back.
  public var isGranted: Bool?
  /// When, on the service's clock; ``neverDecided`` for an app that only asked.
  public var decided: Instant

  /// Earlier than every decision: what an app asks stands over none.
  public static let neverDecided = Instant(milliseconds: 0)

  public init(device: DeviceHash, app: String, requestor: RequestorID, isGranted: Bool?, decided: Instant) {
    self.device = device
    self.app = app
    self.requestor = requestor
    self.isGranted = isGranted
    self.decided = decided
  }

  /// How many decisions of one box are kept; a box with more apps tells of no more.
  public static let mostOfBox = 256

  /// The two places where viewers decide may both have been offline: the later word holds, of two at once the no.
  func holds(over there: PlatformPermissionRecord, at now: Instant) -> Bool {
    // The clock went back since: what is said now, and every no, holds over a time that has not come yet.
    if there.decided > now { return decided >= now || isGranted == false }
    if decided != there.decided { return decided > there.decided }
    return isGranted == false && there.isGranted != false
  }

  /// Whether an app's request, or its sign-in, of that time counts for nothing.
  ///
  /// A decision that was taken back since is no yes. Whoever is let in again needs a new request, and no more: the box
  /// gives its word for none without a yes, of which the service may hear later.
  public func refuses(whatIsFrom made: Instant) -> Bool {
    isGranted == false || (isGranted == nil && decided > Self.neverDecided && decided >= made)
  }

  func isAboutTheSame(as other: PlatformPermissionRecord) -> Bool {
    app.utf8.elementsEqual(other.app.utf8) && requestor == other.requestor
  }
}

/// What becomes a sign-in when all holds that must: the box's word, checked as far as it can be without the store.
public struct PlatformExchange: Hashable, Sendable {
  /// The request that was answered: once.
  public let request: String
  /// When the service made it, and until when it might be answered.
  public let requestMade: Instant
  public let requestEnds: Instant
  /// So much longer it counts as answered: a clock that is set back by less makes no old answer new.
  public static let remembrance: Duration = .seconds(3600)
  public let box: BoxID
  /// The key that signed the answer.
  public let key: [UInt8]
  public let provider: ProviderID
  public let app: String
  /// Whose app it is, on which device.
  public let requestor: RequestorID
  public let device: DeviceID
  public let deviceHash: DeviceHash
  public let profile: ProfileName?
  public let about: DeviceDescription
  public let rowKey: PublicKey
  /// The id of the sign-in to make: the caller draws it.
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

/// A box and what it has: for operators and for the viewer's own list.
public struct BoxOverview: Hashable, Sendable {
  public let box: BoxRecord
  public let signIn: AuthenticationRecord
  public let apps: [AuthenticationRecord]

  /// How many sign-ins of one app stand on a box's: beyond that the app's oldest ends.
  ///
  /// An app has one for each of its requestors; one that makes up device ids takes room from itself alone.
  public static let mostOfApp = 16
  /// How many of all apps: the box says how its apps are called, and whoever owns it may make names up.
  public static let mostOfBox = 256

  public init(box: BoxRecord, signIn: AuthenticationRecord, apps: [AuthenticationRecord]) {
    self.box = box
    self.signIn = signIn
    self.apps = apps
  }
}
