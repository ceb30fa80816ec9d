internal import CRegentOpenSSL
internal import Glibc

/// The TLS session of one connection, on its non-blocking socket.
///
/// Only the connection's event loop uses the session.
@safe final class TLSSession {
  private let handle: OpaquePointer
  /// The TLS settings, kept alive because the session uses their certificate until its end.
  private let rules: TLSRules
  /// Whether a write has to wait for bytes from the client.
  private(set) var wantsInput = false
  /// Whether the session had a fatal error, after which OpenSSL forbids even the close notice.
  private var isBroken = false

  init?(rules: TLSRules, descriptor: Int32) {
    guard let session = unsafe SSL_new(rules.handle) else { return nil }
    guard unsafe SSL_set_fd(session, descriptor) == 1 else {
      unsafe SSL_free(session)
      return nil
    }
    unsafe SSL_set_accept_state(session)
    unsafe handle = session
    self.rules = rules
  }

  deinit { unsafe SSL_free(handle) }

  /// Continues the handshake; returns `.bytes(0)` when it is complete.
  func shakeHands() -> TransferResult {
    ERR_clear_error()
    let result = unsafe SSL_do_handshake(handle)
    return result == 1 ? .bytes(0) : judge(result)
  }

  /// Reads decrypted bytes from the client.
  func receive(into buffer: ReceiveBuffer) -> TransferResult {
    ERR_clear_error()
    let count = unsafe buffer.fill { bytes in
      Int(unsafe SSL_read(handle, bytes.baseAddress, Int32(bytes.count)))
    }
    return count > 0 ? .bytes(count) : judge(Int32(count))
  }

  /// Writes as many of the bytes from `start` on as the socket has room for.
  func transmit(_ bytes: [UInt8], from start: Int) -> TransferResult {
    wantsInput = false
    var at = start
    while at < bytes.count {
      ERR_clear_error()
      let count = unsafe bytes.withUnsafeBufferPointer { buffer in
        let rest = unsafe UnsafeBufferPointer(rebasing: buffer[at...])
        return unsafe SSL_write(handle, rest.baseAddress, Int32(min(rest.count, 1 << 24)))
      }
      if count > 0 {
        at += Int(count)
        continue
      }
      if case .ended = judge(count) { return .ended }
      break
    }
    return at > start ? .bytes(at - start) : .wouldBlock
  }

  /// Whether the session holds decrypted bytes, of which epoll knows nothing.
  var hasPending: Bool { unsafe SSL_has_pending(handle) == 1 }

  /// Whether a handshake that cannot continue waits until it can write.
  ///
  /// Otherwise it waits for input.
  var wantsRoom: Bool { unsafe SSL_want(handle) == SSL_WRITING }

  /// Tells the client that no more data follows.
  func sendCloseNotice() {
    guard !isBroken else { return }
    ERR_clear_error()
    // The error is ignored, because the socket is closed next.
    _ = unsafe SSL_shutdown(handle)
    ERR_clear_error()
  }

  private func judge(_ result: Int32) -> TransferResult {
    switch unsafe SSL_get_error(handle, result) {
    case SSL_ERROR_WANT_READ:
      wantsInput = true
      return .wouldBlock
    case SSL_ERROR_WANT_WRITE:
      return .wouldBlock
    case SSL_ERROR_ZERO_RETURN:
      return .ended
    default:
      isBroken = true
      return .ended
    }
  }
}
