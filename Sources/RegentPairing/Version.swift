// The version, the only code that a release changes; see docs/releasing.md. It is in this target because each program
// and the SDK link it.

/// The version that `--version`, the manual pages, the log, `/healthz` and web/openapi.json show.
public let regentVersion = "0.1.0"

/// The day of this version's release, 23 November 2026, midnight UTC, in milliseconds since 1970.
///
/// No copy of this version runs before that day. So a box without a battery clock, which starts in 1970, checks its
/// first certificate with this time and not with 1970. The build time is not used: Swift does not provide it, and two
/// builds of one source should be identical.
public let regentReleased: Int64 = 1_795_392_000_000
