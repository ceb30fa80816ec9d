public import RegentPairing

/// An invitation that an operator makes for a requestor's boxes.
///
/// A box redeems it for a key pair of its own.
public struct EnrolmentRecord: Hashable, Sendable {
  /// The public part of the invitation code.
  public let id: EnrolmentID
  public let requestor: RequestorID
  /// A value derived from the secret part of the code.
  ///
  /// The service verifies the box's request with it and encrypts the response.
  public let secret: StoredSecret
  /// The number of boxes that may redeem this invitation.
  public let uses: Int
  public let created: Instant
  public let expires: Instant
  /// The boxes that have redeemed this invitation, with the key pair of each.
  ///
  /// The keys of the dictionary are names that the boxes choose. They serve only to list the boxes here.
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

  /// The maximum number of valid box invitations that one requestor may have at a time.
  public static let mostOfRequestor = 64
  /// The maximum number of boxes that may redeem one invitation: enough for a classroom, not for a fleet.
  public static let mostUses = 100

  public func isValid(at now: Instant) -> Bool { now < expires }

  /// Returns the key pair of a box that has already redeemed the invitation.
  ///
  /// A box whose connection broke can thus repeat its request.
  ///
  /// Returns nil when the box may get a new pair.
  ///
  /// - Throws: `notFound` when the invitation has expired or all its uses are taken.
  public func pair(of box: String, at now: Instant) throws(StoreError) -> PublicKey? {
    guard isValid(at: now) else { throw Self.missing }
    if let there = boxes[box] { return there }
    guard boxes.count < uses else { throw Self.missing }
    return nil
  }

  /// A copy of the invitation with one more box recorded as having redeemed it.
  public func redeemed(by box: String, _ pair: PublicKey) -> EnrolmentRecord {
    var record = self
    record.boxes[box] = pair
    return record
  }

  /// The error for an invitation that is used up, expired, revoked or unknown.
  ///
  /// One error for all cases, so that an attacker who guesses codes cannot tell them apart.
  public static let missing = StoreError.notFound(what: "invitation")
}
