/// The version that `--version` shows.
let regentVersion = "0.1.0"

/// A time before which this program cannot run, in epoch milliseconds: a box without a battery clock wakes up in 1970.
let regentBuildTime: Int64 = 1_790_000_000_000
