// The one place where a release changes the code; docs/releasing.md says how. It is in this target because every
// program and the SDK link it.

/// What `--version`, the manual pages, the log, `/healthz` and web/openapi.json call this version.
public let regentVersion = "0.1.0"

/// Midnight UTC of the day of this version's release, 23 November 2026, in epoch milliseconds.
///
/// The programs cannot run earlier: a box without a battery clock that wakes up in 1970 checks its first certificate at
/// least by this. Not the time of the build: Swift has none, and one program built twice should be the same twice.
public let regentReleased: Int64 = 1_795_392_000_000
