import AccessEnabler
import RegentJSON

/// An app and the requestor for which it signs in.
struct AppRequestor: Hashable, Sendable, Comparable {
  let app: String
  let requestor: String

  static func < (one: AppRequestor, other: AppRequestor) -> Bool {
    (one.app, one.requestor) < (other.app, other.requestor)
  }
}

/// A decision that was made on the box and that the service has not confirmed.
struct UntoldDecision: Sendable, Equatable {
  let who: AppRequestor
  let permission: PlatformPermission
  /// The time of the viewer's decision on the box's clock, in milliseconds since 1970.
  let decided: Int64

  /// The start of 2020.
  ///
  /// A decision with an earlier time was made before the box's clock was set.
  private static let clockIsSet: Int64 = 1_577_836_800_000

  /// How long ago the viewer decided.
  ///
  /// A wrong clock does no harm, because both times come from the same clock. If the clock was set in between, the real
  /// age is unknown. A refusal is then treated as new and anything else as old, so that the refusal wins.
  func age(at now: Int64) -> Duration {
    if decided < Self.clockIsSet, now >= Self.clockIsSet, permission == .denied { return .zero }
    return .milliseconds(max(0, now - decided))
  }
}

/// The viewer's decisions about apps, as a value in memory that ``PermissionStore`` writes to disk.
struct PermissionBook: Sendable, Equatable {
  private(set) var decisions: [AppRequestor: PlatformPermission] = [:]
  /// The decisions that the service has not confirmed, with their times.
  ///
  /// A decision that was reset is among them.
  private(set) var untold: [AppRequestor: Int64] = [:]
  /// The viewer who granted the permissions, as a hash, or `nil` before the first sign-in.
  private(set) var viewer: String?
  /// Whether the decisions of an earlier run were lost.
  ///
  /// A permission that the service has may then be older than a lost refusal.
  var isLost = false

  /// The maximum number of decisions.
  ///
  /// The settings file cannot name as many apps, so the daemon did not write a larger file.
  static let most = 4_096

  subscript(_ who: AppRequestor) -> PlatformPermission { decisions[who] ?? .undetermined }

  /// The decisions that the service has not confirmed, oldest first.
  var toTell: [UntoldDecision] {
    untold.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { who, decided in
      UntoldDecision(who: who, permission: self[who], decided: decided)
    }
  }

  /// Returns the book with a new decision, which must then be sent to the service.
  ///
  /// `undetermined` removes the decision.
  ///
  /// - Returns: `nil` if the book is full. The viewer must reset an earlier decision first.
  func deciding(_ permission: PlatformPermission, _ who: AppRequestor, at now: Int64) -> PermissionBook? {
    var book = self
    book.decisions[who] = permission == .undetermined ? nil : permission
    // A decision is sent even if it changes nothing, because an opposite decision from "my screens" may be on its way.
    book.untold[who] = now
    return book.isInBounds ? book : nil
  }

  /// Returns the book after the service has confirmed a decision.
  ///
  /// A newer decision about the same app stays unconfirmed.
  func telling(_ decision: UntoldDecision) -> PermissionBook {
    var book = self
    if untold[decision.who] == decision.decided, self[decision.who] == decision.permission {
      book.untold[decision.who] = nil
    }
    return book
  }

  /// Returns the book with the service's decisions.
  ///
  /// An app with an unconfirmed decision keeps that one.
  ///
  /// If earlier decisions were lost, permissions from the service are not accepted. They are revoked at the service
  /// too, and the viewer is asked again.
  func takingOver(_ news: [AppRequestor: PlatformPermission], at now: Int64) -> PermissionBook {
    news.reduce(self) { book, said in
      let (who, permission) = said
      guard book.untold[who] == nil else { return book }
      var next = book
      if isLost, permission == .granted, book[who] != .granted {
        next.untold[who] = now
      } else {
        next.decisions[who] = permission == .undetermined ? nil : permission
      }
      return next.isInBounds ? next : book
    }
  }

  /// Returns the book for this viewer's account.
  ///
  /// Permissions that another viewer granted are revoked, also at the service; refusals stay.
  ///
  /// Permissions that were granted before the first sign-in belong to the first viewer who signs in.
  func belonging(to viewer: String, at now: Int64) -> PermissionBook {
    var book = self
    book.viewer = viewer
    guard let before = self.viewer, before != viewer else { return book }
    for (who, permission) in decisions where permission == .granted {
      book.decisions[who] = nil
      // If there is no room to send this revocation to the service, no harm is done, because the box no longer signs
      // answers for the app.
      if book.untold.count < Self.most { book.untold[who] = now }
    }
    return book
  }

  private var isInBounds: Bool { decisions.count <= Self.most && untold.count <= Self.most }

  var document: JSONObject {
    let all = Set(decisions.keys).union(untold.keys)
    var object: JSONObject = [
      "version": 1,
      "permissions": .array(
        all.sorted().map { who in
          var entry: JSONObject = [
            "app": .string(who.app), "requestor": .string(who.requestor),
            "permission": .string(self[who].rawValue),
          ]
          if let decided = untold[who] { entry["untold"] = .integer(decided) }
          return .object(entry)
        }),
    ]
    if let viewer { object["viewer"] = .string(viewer) }
    if isLost { object["lost"] = true }
    return object
  }

  init() {}

  /// Parses the stored decisions.
  ///
  /// Returns `nil` if one entry cannot be parsed, because a partial list could lack a refusal.
  init?(reading bytes: [UInt8]) {
    let limits = JSONLimits(depth: 4, bytes: 1_048_576)
    guard let object = (try? JSONValue(reading: bytes, limits: limits))?.object,
      object["version"]?.int64 == 1, let entries = object["permissions"]?.array, entries.count <= 2 * Self.most
    else { return nil }
    viewer = object["viewer"]?.string
    isLost = object["lost"] != nil
    for entry in entries {
      guard let app = entry["app"]?.string, let requestor = entry["requestor"]?.string,
        let permission = entry["permission"]?.string.flatMap(PlatformPermission.init)
      else { return nil }
      let who = AppRequestor(app: app, requestor: requestor)
      if let decided = entry["untold"] {
        guard let decided = decided.int64 else { return nil }
        untold[who] = decided
      }
      guard permission != .undetermined || untold[who] != nil else { return nil }
      if permission != .undetermined { decisions[who] = permission }
    }
    guard isInBounds else { return nil }
  }
}
