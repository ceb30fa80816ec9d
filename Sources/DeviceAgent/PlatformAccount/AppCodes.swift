import CommandKit

/// How many codes apps may have the box show: so few that there are always some for whoever signs the box in.
struct AppCodes: Sendable {
  /// In an hour: of one app, and of all of them; the rest of ``PairHost/codesAnHour`` is no app's.
  static let mostOfOne = 6
  static let mostOfAll = 30

  /// Nanoseconds since boot, and whose.
  private var times: [(app: String, at: UInt64)] = []

  mutating func take(_ app: String, now: UInt64) throws(CommandError) {
    times.removeAll { now - min(now, $0.at) >= 3_600_000_000_000 }
    guard times.count < Self.mostOfAll, times.count(where: { $0.app == app }) < Self.mostOfOne else {
      throw CommandError(
        "apps requested too many codes within one hour", hint: "sign the box in yourself: regent sso sign-in",
        code: "busy")
    }
    times.append((app, now))
  }
}
