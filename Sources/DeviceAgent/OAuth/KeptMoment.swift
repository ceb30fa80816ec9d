import RegentJSON
import RegentPlatform

/// A point in time on both clocks, which survives restarts.
///
/// A box without a battery for its clock starts in 1970 and jumps when the network comes. During one boot, only the
/// boot clock is used. After a restart, only the wall clock is available.
struct KeptMoment: Sendable, Equatable {
  /// The wall-clock time, in epoch milliseconds.
  var wall: Int64
  /// The boot-clock time, in milliseconds since boot.
  var boot: Int64
  /// The kernel's boot id, which tells one boot from another.
  var run: String

  static func now() -> KeptMoment {
    let run = (try? DurableFile.read("/proc/sys/kernel/random/boot_id", limit: 128, widest: nil)) ?? []
    return KeptMoment(
      wall: Clocks.wallMilliseconds(), boot: Int64(Clocks.bootNanoseconds() / 1_000_000),
      run: String(decoding: run.prefix { $0 > 0x20 }, as: UTF8.self))
  }

  /// The milliseconds from this point until `now`, or `nil` if they are unknown: after a restart, with a wall clock
  /// that went back.
  func elapsed(until now: KeptMoment) -> Int64? {
    if run == now.run, !run.isEmpty, now.boot >= boot { return now.boot - boot }
    return now.wall >= wall ? now.wall - wall : nil
  }

  var document: JSONValue {
    ["wall": .integer(wall), "boot": .integer(boot), "run": .string(run)]
  }

  init(wall: Int64, boot: Int64, run: String) {
    self.wall = wall
    self.boot = boot
    self.run = run
  }

  init?(_ document: JSONValue?) {
    guard let wall = document?["wall"]?.int64, let boot = document?["boot"]?.int64,
      let run = document?["run"]?.string, wall >= 0, boot >= 0
    else { return nil }
    self.init(wall: wall, boot: boot, run: run)
  }
}
