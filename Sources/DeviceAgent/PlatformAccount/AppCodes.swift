import CommandKit

/// Limits how many codes the apps of the box may request, so that some remain for a person who signs the box in.
struct AppCodes: Sendable {
  /// The maximum number of codes in an hour, for one app and for all apps together.
  ///
  /// The rest of ``PairHost/codesAnHour`` is reserved for sign-ins that people start.
  static let mostOfOne = 6
  static let mostOfAll = 30

  /// The app and the time of each code, in nanoseconds since boot.
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
