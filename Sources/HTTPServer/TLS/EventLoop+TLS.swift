internal import Glibc
internal import RegentPlatform

extension EventLoop {
  /// Continues the TLS handshake of a connection.
  ///
  /// The deadline of the first request's head covers the handshake too.
  func shakeHands(_ connection: Connection) {
    guard let tls = connection.tls else { return }
    switch tls.shakeHands() {
    case .bytes:
      connection.phase = .idle
      watch(connection, [.readable, .peerClosed])
      // The first request may have arrived together with the client's last handshake message.
      receive(on: connection)
    case .wouldBlock:
      watch(connection, tls.wantsRoom ? .writable : [.readable, .peerClosed])
    case .ended:
      counters.failedHandshakes.add()
      close(connection)
    }
  }
}
