internal import RegentPairing

/// The codes of one requestor that were withdrawn, expired or denied, in the order in which they ended.
///
/// A client with the app's secret can create any number of them, because each new code of a device withdraws the one
/// before it. The lists are therefore bounded, and the oldest entries are evicted. Ages are measured with the boot
/// clock, so that setting the wall clock cannot keep entries alive.
struct EndedCodes: Sendable {
  /// The maximum number of withdrawn codes that are remembered.
  ///
  /// The number is small, because only a phone that has opened a withdrawn code asks for it again.
  static let mostWithdrawn = 1000
  /// The maximum number of expired and denied codes that are remembered.
  ///
  /// While a code is remembered, the service can tell its device what happened to the code.
  static let mostOthers = 20_000
  /// How long a withdrawn code is remembered at most.
  ///
  /// For that long, a viewer who has the code's page open can be told what happened.
  static let withdrawnAge: Duration = .seconds(300)

  private struct End {
    let id: RegistrationID
    let at: Uptime
  }

  private var withdrawn: [End] = []
  private var others: [End] = []

  init() {}

  var isEmpty: Bool { withdrawn.isEmpty && others.isEmpty }

  /// Adds a code that has ended.
  ///
  /// A full list drops a sixteenth of its entries at once. Dropping one entry for each new one would move all others
  /// each time, and a flood of codes would cost much processor time.
  /// - Returns: the codes that were evicted.
  mutating func add(_ id: RegistrationID, _ isWithdrawn: Bool, at now: Uptime) -> [RegistrationID] {
    let end = End(id: id, at: now)
    return isWithdrawn
      ? Self.add(end, to: &withdrawn, most: Self.mostWithdrawn)
      : Self.add(end, to: &others, most: Self.mostOthers)
  }

  /// Removes and returns the ended codes that are too old.
  mutating func sweep(at now: Uptime) -> [RegistrationID] {
    Self.removeOld(&withdrawn, Self.withdrawnAge, at: now)
      + Self.removeOld(&others, CodeLifetime.longest.span + CodeLifetime.remembrance, at: now)
  }

  private static func add(_ end: End, to ends: inout [End], most: Int) -> [RegistrationID] {
    var gone: [RegistrationID] = []
    if ends.count >= most {
      gone = ends.prefix(most / 16).map(\.id)
      ends.removeFirst(gone.count)
    }
    ends.append(end)
    return gone
  }

  private static func removeOld(_ ends: inout [End], _ age: Duration, at now: Uptime) -> [RegistrationID] {
    let old = ends.prefix { $0.at + age <= now }.map(\.id)
    ends.removeFirst(old.count)
    return old
  }
}
