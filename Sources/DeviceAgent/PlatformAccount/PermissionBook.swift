import AccessEnabler
import RegentJSON

/// An app, and whom it signs in for.
struct AppRequestor: Hashable, Sendable, Comparable {
  let app: String
  let requestor: String

  static func < (one: AppRequestor, other: AppRequestor) -> Bool {
    (one.app, one.requestor) < (other.app, other.requestor)
  }
}

/// A decision that was made on the box and that the service has not heard of.
struct UntoldDecision: Sendable, Equatable {
  let who: AppRequestor
  let permission: PlatformPermission
  /// When, in milliseconds since 1970 by the box's clock.
  let decided: Int64

  /// A box that had no clock yet when the viewer decided shows a time before this: 2020.
  private static let clockIsSet: Int64 = 1_577_836_800_000

  /// How long ago it was made, by the clock that also said when: it need not be right for that.
  ///
  /// Where it was set in between, nobody knows; a no is then taken for new, and anything else for old.
  func age(at now: Int64) -> Duration {
    if decided < Self.clockIsSet, now >= Self.clockIsSet, permission == .denied { return .zero }
    return .milliseconds(max(0, now - decided))
  }
}

/// The viewer's decisions, as values.
struct PermissionBook: Sendable, Equatable {
  private(set) var decisions: [AppRequestor: PlatformPermission] = [:]
  /// When those were made that the service has not heard of; one that was taken back is among them.
  private(set) var untold: [AppRequestor: Int64] = [:]
  /// Whose account it was when the yes were said; none before anybody signed in.
  private(set) var viewer: String?
  /// Whether an earlier book was lost: a yes that the service kept may be older than a no that was in it.
  var isLost = false

  /// The daemon's lines name fewer; a file with more is none of its own.
  static let most = 4_096

  subscript(_ who: AppRequestor) -> PlatformPermission { decisions[who] ?? .undetermined }

  /// The decisions to tell, in the order in which they were made.
  var toTell: [UntoldDecision] {
    untold.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { who, decided in
      UntoldDecision(who: who, permission: self[who], decided: decided)
    }
  }

  /// The book with one decision more, or less: undetermined is none.
  ///
  /// The service is to be told of it.
  /// - Returns: nil when the book is full; somebody has to take a decision back first.
  func deciding(_ permission: PlatformPermission, _ who: AppRequestor, at now: Int64) -> PermissionBook? {
    var book = self
    book.decisions[who] = permission == .undetermined ? nil : permission
    // Also when it is the same again: another one, from "my screens", may be under way.
    book.untold[who] = now
    return book.isInBounds ? book : nil
  }

  /// The book after the service heard of a decision; another one of the same app is still to be told.
  func telling(_ decision: UntoldDecision) -> PermissionBook {
    var book = self
    if untold[decision.who] == decision.decided, self[decision.who] == decision.permission {
      book.untold[decision.who] = nil
    }
    return book
  }

  /// The book with what the service says about apps; nothing changes about one of which it has not heard what was
  /// decided here.
  ///
  /// After a loss no yes of the service's counts: it is taken back there as well, and the viewer is asked again.
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

  /// The book for the account of that viewer: what another one allowed is taken back, there too, and a no stays.
  ///
  /// What was allowed before anybody signed in is for who does so first.
  func belonging(to viewer: String, at now: Int64) -> PermissionBook {
    var book = self
    book.viewer = viewer
    guard let before = self.viewer, before != viewer else { return book }
    for (who, permission) in decisions where permission == .granted {
      book.decisions[who] = nil
      // Untold is no harm: the box gives no word.
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

  /// Reads what was written; nothing when any of it is not understood: half a list of decisions could grant what a
  /// lost line denies.
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
