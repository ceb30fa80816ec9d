import RegentJSON
import RegentPlatform

/// A moment that is kept over restarts, by both clocks.
///
/// A box without a battery begins in 1970 and jumps when the network comes. While the machine runs, only the time since
/// its start is believed; after a restart the wall clock is what there is.
struct KeptMoment: Sendable, Equatable {
  /// Epoch milliseconds.
  var wall: Int64
  /// Milliseconds since the machine's start.
  var boot: Int64
  /// The kernel's name for this run of the machine.
  var run: String

  static func now() -> KeptMoment {
    let run = (try? DurableFile.read("/proc/sys/kernel/random/boot_id", limit: 128, widest: nil)) ?? []
    return KeptMoment(
      wall: Clocks.wallMilliseconds(), boot: Int64(Clocks.bootNanoseconds() / 1_000_000),
      run: String(decoding: run.prefix { $0 > 0x20 }, as: UTF8.self))
  }

  /// How many milliseconds passed until then; nil when nobody can say: another run, and a wall clock that went back.
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
