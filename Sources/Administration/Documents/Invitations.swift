public import RegentPairing

/// An invitation of new boxes in a list, without its code.
public struct InvitationEntry: AdminDocument, Codable, Hashable {
  /// The first letters of the invitation's code, which are not secret.
  public let id: EnrolmentID
  public let requestor: RequestorID
  /// The number of boxes that may redeem the invitation.
  public let uses: Int64
  /// The key pairs of the boxes that have redeemed the invitation.
  public let boxes: [PublicKey]
  public let created: Instant
  public let expires: Instant

  /// The default lifetime of an invitation in seconds.
  public static let usualSeconds = 3600
  public static let mostSeconds = 86_400

  public init(
    id: EnrolmentID, requestor: RequestorID, uses: Int64, boxes: [PublicKey], created: Instant, expires: Instant
  ) {
    self.id = id
    self.requestor = requestor
    self.uses = uses
    self.boxes = boxes
    self.created = created
    self.expires = expires
  }
}

/// A new invitation for boxes.
///
/// Only this response contains its code.
public struct IssuedInvitation: AdminDocument, Codable {
  public let id: EnrolmentID
  /// The code of the invitation, which is typed into the box.
  public let code: String
  /// The service's public address, which is typed into the box.
  public let service: String
  public let uses: Int64
  public let expires: Instant

  public init(id: EnrolmentID, code: String, service: String, uses: Int64, expires: Instant) {
    self.id = id
    self.code = code
    self.service = service
    self.uses = uses
    self.expires = expires
  }
}
