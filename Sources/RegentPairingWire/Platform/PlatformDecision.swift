public import RegentJSON
public import RegentPairing

/// A viewer's decision about an app of a box, as the box signs it for the service.
///
/// The decision is signed with the box's key (EdDSA, the `kid` is the box's id), so the box's device id and a key pair
/// that several boxes share do not suffice to decide for the viewer. It names no service, because only the service that
/// made the box's id has the key.
public struct PlatformDecision: Hashable, Sendable {
  /// The JWT type of a decision, so that no other text signed with the same key passes as one.
  public static let type = "platform-decision+jwt"
  public static let lifetime: Duration = .seconds(60)
  /// The longest signed decision that is parsed, in bytes.
  public static let longest = 2048
  /// The longest ``id``, in bytes.
  public static let longestID = 64

  /// An id that the box chooses.
  ///
  /// The service stores one decision with this id.
  public let id: String
  /// The id that the service gave the box when it registered the box's key.
  public let box: String
  public let app: String
  public let requestor: String
  /// `granted`, `denied` or `undetermined`; or `asked` if the app waits for a decision.
  public let permission: String
  /// How long before ``issued`` the viewer decided.
  public let age: Duration
  /// The time by the service's clock, which the box learned from an earlier response.
  public let issued: Instant

  public init(
    id: String, box: String, app: String, requestor: String, permission: String, age: Duration, issued: Instant
  ) {
    self.id = id
    self.box = box
    self.app = app
    self.requestor = requestor
    self.permission = permission
    self.age = age
    self.issued = issued
  }

  public var claims: JSONObject {
    [
      "jti": .string(id), "iss": .string(box), "app": .string(app), "requestor": .string(requestor),
      "permission": .string(permission), "age": .integer(age.wholeMilliseconds),
      "issued": .integer(issued.milliseconds),
    ]
  }

  public init?(_ claims: JSONObject) {
    guard let id = claims["jti"]?.string, !id.isEmpty, id.utf8.count <= Self.longestID,
      let box = claims["iss"]?.string, let app = claims["app"]?.string, let requestor = claims["requestor"]?.string,
      let permission = claims["permission"]?.string, let age = claims["age"]?.int64,
      let issued = claims["issued"]?.int64
    else { return nil }
    self.init(
      id: id, box: box, app: app, requestor: requestor, permission: permission, age: .milliseconds(age),
      issued: Instant(milliseconds: issued))
  }

  /// When the decision's signature ends.
  public var expires: Instant { issued + Self.lifetime }

  /// Whether the decision was signed less than ``lifetime`` ago, or at most as far in the future, because clocks
  /// differ.
  public func isFresh(at now: Instant) -> Bool {
    let age = now.since(issued)
    return age <= Self.lifetime && age >= .zero - Self.lifetime
  }
}
