import CPostgreSQL

/// The SQLSTATEs of the warnings that came with the last exchange.
///
/// A warning is the only sign that a committed transaction may not have reached the standby.
@safe final class NoticeLog {
  private static let most = 32
  private let library: ClientLibrary
  private(set) var warnings: [SQLState] = []

  init(_ library: ClientLibrary) { self.library = library }

  func clear() { warnings.removeAll() }

  fileprivate func add(_ result: OpaquePointer?) {
    func field(_ letter: Unicode.Scalar) -> String? {
      unsafe library.errorField(result, CInt(letter.value)).map { unsafe String(cString: $0) }
    }
    // Field V is the severity in English, whatever the server's language is.
    guard field("V") == "WARNING", warnings.count < Self.most else { return }
    warnings.append(SQLState(field("C") ?? "01000"))
  }

  /// Makes libpq pass notices to this log and not to standard error.
  ///
  /// The log must live as long as the connection.
  func listen(to handle: OpaquePointer) {
    _ = unsafe library.setNoticeReceiver(handle, receiveNotice, Unmanaged.passUnretained(self).toOpaque())
  }
}

/// Receives libpq's notices.
///
/// It is at file scope because a closure passed to C from an actor-isolated place would trap on another thread.
private func receiveNotice(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
  guard let context = unsafe context else { return }
  unsafe Unmanaged<NoticeLog>.fromOpaque(context).takeUnretainedValue().add(result)
}
