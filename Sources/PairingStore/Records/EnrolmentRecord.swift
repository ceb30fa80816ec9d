public import RegentPairing

/// An invitation of a requestor's boxes: what an operator made and a box redeems for a key pair of its own.
public struct EnrolmentRecord: Hashable, Sendable {
  /// The part of the code that is no secret.
  public let id: EnrolmentID
  public let requestor: RequestorID
  /// What was derived from the secret part: proves a box's request and seals the answer.
  public let secret: StoredSecret
  /// How many boxes it is for.
  public let uses: Int
  public let created: Instant
  public let expires: Instant
  /// The boxes that have redeemed it, by what they call themselves for this alone, and the key pair of each.
  public internal(set) var boxes: [String: PublicKey]

  public init(
    id: EnrolmentID, requestor: RequestorID, secret: StoredSecret, uses: Int, created: Instant, expires: Instant,
    boxes: [String: PublicKey] = [:]
  ) {
    self.id = id
    self.requestor = requestor
    self.secret = secret
    self.uses = uses
    self.created = created
    self.expires = expires
    self.boxes = boxes
  }

  /// How many invitations of one requestor stand at a time.
  public static let mostOfRequestor = 64
  /// The most boxes of one invitation: a classroom, not a fleet.
  public static let mostUses = 100

  /// Whether it stands.
  public func isValid(at now: Instant) -> Bool { now < expires }

  /// The key pair of a box that has redeemed it already, so that one that was cut off may ask again; none when it may
  /// have a new one.
  ///
  /// - Throws: `notFound` for one more box than it is for, and when it is over.
  public func pair(of box: String, at now: Instant) throws(StoreError) -> PublicKey? {
    guard isValid(at: now) else { throw Self.missing }
    if let there = boxes[box] { return there }
    guard boxes.count < uses else { throw Self.missing }
    return nil
  }

  /// The same, redeemed by one more box.
  public func redeemed(by box: String, _ pair: PublicKey) -> EnrolmentRecord {
    var record = self
    record.boxes[box] = pair
    return record
  }

  /// Used up, over, revoked or never there: nobody is told which.
  public static let missing = StoreError.notFound(what: "invitation")
}
