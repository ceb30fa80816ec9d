import CPostgreSQL

/// Notifications (NOTIFY, here called bells) that have arrived on a connection and were not handled yet.
///
/// The server sends notifications before it answers anything else, and any client of the database can send as many as
/// it likes. So they are counted as they arrive, also while this code waits for an answer. Too many of them close the
/// connection, which frees those that libpq and the server store.
@safe final class Bells {
  private var waiting: [Notification] = []
  private var bytes = 0
  /// Whether more notifications arrived than the limits allow.
  private(set) var isFlood = false

  static let most = 10_000
  static let mostBytes = 1 << 20

  /// Takes the notifications that libpq has received.
  ///
  /// - Throws: `.lost` when they exceed the limits.
  func take(from handle: OpaquePointer, _ library: ClientLibrary) throws(PostgreSQLError) {
    while let bell = unsafe library.notifications(handle) {
      defer { unsafe library.free(bell) }
      guard !isFlood else { continue }
      let heard = unsafe Notification(
        channel: String(cString: bell.pointee.relname), payload: String(cString: bell.pointee.extra),
        backend: bell.pointee.be_pid)
      bytes += heard.payload.utf8.count
      waiting.append(heard)
      if waiting.count > Self.most || bytes > Self.mostBytes {
        isFlood = true
        waiting = []
      }
    }
    if isFlood { throw PostgreSQLError(.lost, "more bells were rung than anybody hears") }
  }

  func takeAll() -> [Notification] {
    defer { (waiting, bytes) = ([], 0) }
    return waiting
  }
}
