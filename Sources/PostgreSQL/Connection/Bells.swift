import CPostgreSQL

/// The bells that a connection was told of and nobody has heard yet.
///
/// The server tells of them before it answers anything else, and whoever may connect can ring as many as he likes. So
/// they are counted while they come, also while an answer is waited for, and too many end the connection: what the
/// library and the server have of them then goes with it.
@safe final class Bells {
  private var waiting: [Notification] = []
  private var bytes = 0
  /// Whether more came than anybody hears.
  private(set) var isFlood = false

  static let most = 10_000
  static let mostBytes = 1 << 20

  /// Takes what the library has.
  ///
  /// - Throws: `.lost` when it is too much.
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
