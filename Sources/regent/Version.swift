/// The version that `--version` shows.
let regentVersion = "0.1.0"

/// A day before any build of this version, 21 September 2026, in epoch milliseconds; to be raised together with it.
///
/// The program cannot run earlier: a box without a battery clock that wakes up in 1970 checks its first certificate at
/// least by this. Not the time of the build: Swift has none, and one program built twice should be the same twice.
let regentReleased: Int64 = 1_790_000_000_000
