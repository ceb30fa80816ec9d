internal import RegentPairing

/// The codes of one requestor that came to nothing (withdrawn, run out of time, denied), in the order of their ends.
///
/// Whoever has the app's secret makes as many as it likes: each new code of a device ends the one before it. So there
/// is room for so many, and a newer one drives the oldest out. Ages are of the boot clock: no setting of the time of
/// day keeps them.
struct EndedCodes: Sendable {
  /// Withdrawn codes: nobody but a phone that opened one asks for it again.
  static let mostWithdrawn = 1000
  /// Expired and denied ones: their devices are told so while there is room.
  static let mostOthers = 20_000
  /// How long a withdrawn code is remembered at most: long enough for the phone in hand to say what happened to it.
  static let withdrawnAge: Duration = .seconds(300)

  private struct End {
    let id: RegistrationID
    let at: Uptime
  }

  private var withdrawn: [End] = []
  private var others: [End] = []

  init() {}

  var isEmpty: Bool { withdrawn.isEmpty && others.isEmpty }

  /// One more.
  ///
  /// They go in heaps of a sixteenth: moving the rest up each time would cost a flood nothing and us much.
  /// - Returns: those that have to go for it.
  mutating func add(_ id: RegistrationID, _ isWithdrawn: Bool, at now: Uptime) -> [RegistrationID] {
    let end = End(id: id, at: now)
    return isWithdrawn
      ? Self.add(end, to: &withdrawn, most: Self.mostWithdrawn)
      : Self.add(end, to: &others, most: Self.mostOthers)
  }

  /// Those whose time is over.
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
