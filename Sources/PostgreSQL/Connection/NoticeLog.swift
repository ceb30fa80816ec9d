import CPostgreSQL

/// The states of the warnings that came with the last exchange.
///
/// A COMMIT that the standby may not have says so in one, and in nothing else.
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
    // The severity in English, whatever language the server speaks.
    guard field("V") == "WARNING", warnings.count < Self.most else { return }
    warnings.append(SQLState(field("C") ?? "01000"))
  }

  /// Makes libpq tell this log, which must live as long as the connection, instead of standard error.
  func listen(to handle: OpaquePointer) {
    _ = unsafe library.setNoticeReceiver(handle, receiveNotice, Unmanaged.passUnretained(self).toOpaque())
  }
}

/// At file scope: a closure given to C from an isolated place would trap on another thread.
private func receiveNotice(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
  guard let context = unsafe context else { return }
  unsafe Unmanaged<NoticeLog>.fromOpaque(context).takeUnretainedValue().add(result)
}
