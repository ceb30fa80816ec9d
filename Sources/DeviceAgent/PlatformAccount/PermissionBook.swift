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

/// The viewer's decisions, as values.
struct PermissionBook: Sendable, Equatable {
  private(set) var decisions: [AppRequestor: PlatformPermission] = [:]

  /// The daemon's lines name fewer; a file with more is none of its own.
  static let most = 4_096

  subscript(_ who: AppRequestor) -> PlatformPermission { decisions[who] ?? .undetermined }

  /// The book with one decision more, or less: undetermined is none.
  ///
  /// - Returns: nil when the book is full; somebody has to take a decision back first.
  func deciding(_ permission: PlatformPermission, _ who: AppRequestor) -> PermissionBook? {
    var book = self
    book.decisions[who] = permission == .undetermined ? nil : permission
    return book.decisions.count <= Self.most ? book : nil
  }

  var document: JSONObject {
    [
      "version": 1,
      "permissions": .array(
        decisions.sorted { $0.key < $1.key }.map { who, permission in
          [
            "app": .string(who.app), "requestor": .string(who.requestor),
            "permission": .string(permission.rawValue),
          ]
        }),
    ]
  }

  init() {}

  /// Reads what was written; nothing when any of it is not understood: half a list of decisions could grant what a
  /// lost line denies.
  init?(reading bytes: [UInt8]) {
    let limits = JSONLimits(depth: 4, bytes: 1_048_576)
    guard let object = (try? JSONValue(reading: bytes, limits: limits))?.object,
      object["version"]?.int64 == 1, let entries = object["permissions"]?.array, entries.count <= Self.most
    else { return nil }
    for entry in entries {
      guard let app = entry["app"]?.string, let requestor = entry["requestor"]?.string,
        let permission = entry["permission"]?.string.flatMap(PlatformPermission.init), permission != .undetermined
      else { return nil }
      decisions[AppRequestor(app: app, requestor: requestor)] = permission
    }
  }
}
