/// Limits how many codes a box requests automatically, so that an unattended screen does not load the service for ever.
struct CodeBudget: Sendable, Equatable {
  static let codes = 12
  static let window: Int64 = 3_600_000

  private var times: [Int64] = []

  func allowsAnother(at now: Int64) -> Bool {
    times.count { now - $0 < Self.window } < Self.codes
  }

  mutating func count(at now: Int64) {
    times.removeAll { now - $0 >= Self.window }
    times.append(now)
  }
}
