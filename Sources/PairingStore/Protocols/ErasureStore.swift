public import RegentPairing

/// Computes the key under which the name of a screen is stored.
public typealias ScreenHasher = @Sendable (AuthenticationRecord) -> ScreenHash

/// The part of the store that shows and deletes what is stored about one viewer.
///
/// None of its operations needs the viewer's account or provider to exist, so that an erasure that was interrupted can
/// be repeated, and the lines of an account that was removed before can be pseudonymised.
public protocol ErasureStore: Sendable {
  /// Reads everything that is stored about a viewer, audit lines excepted.
  func rows(about viewer: Viewer, screen: @escaping ScreenHasher) async throws(StoreError) -> ViewerRows

  /// Lists the audit lines after a number that name a viewer.
  func auditLines(about viewer: Viewer, after number: Int64, limit: Int)
    async throws(StoreError) -> [NumberedAuditEntry]

  /// Deletes everything that is stored about a viewer, audit lines excepted.
  ///
  /// Decisions about apps belong to a box, and stay when another viewer is signed in on it. The audit line is written
  /// only if there was something to delete.
  func erase(
    _ viewer: Viewer, screen: @escaping ScreenHasher, audit line: AuditEntry, at now: Instant
  ) async throws(StoreError) -> ErasedRows

  /// Replaces the name of a viewer in up to `limit` audit lines after a number by a pseudonym.
  ///
  /// The lines keep their numbers, and the log stays verifiable. `line` makes the audit line about the number of
  /// changed lines; it is written only if there are any.
  ///
  /// - Returns: the number of changed lines and the number of the last one; nil when no line is left.
  func pseudonymise(
    _ viewer: Viewer, as name: AccountName, after number: Int64, limit: Int,
    audit line: @escaping @Sendable (Int) -> AuditEntry
  ) async throws(StoreError) -> (count: Int, last: Int64)?

  /// Removes the detail of up to `limit` audit lines after a number that name one of these boxes and no viewer
  /// (``AuditEntry/isAbout(devices:)``). `line` makes the audit line about the number of changed lines.
  ///
  /// Boxes are given by their short names.
  ///
  /// - Returns: the number of changed lines and the number of the last one; nil when no line is left.
  func eraseDetails(
    ofDevices devices: Set<String>, after number: Int64, limit: Int, audit line: @escaping @Sendable (Int) -> AuditEntry
  ) async throws(StoreError) -> (count: Int, last: Int64)?
}
