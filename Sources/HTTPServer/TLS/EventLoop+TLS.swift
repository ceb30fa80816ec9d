internal import Glibc
internal import RegentPlatform

extension EventLoop {
  /// Goes on with a handshake; the header deadline runs.
  func shakeHands(_ connection: Connection) {
    guard let tls = connection.tls else { return }
    switch tls.shakeHands() {
    case .bytes:
      connection.phase = .idle
      watch(connection, [.readable, .peerClosed])
      // The first request may have come with the last flight.
      receive(on: connection)
    case .wouldBlock:
      watch(connection, tls.wantsRoom ? .writable : [.readable, .peerClosed])
    case .ended:
      counters.failedHandshakes.add()
      close(connection)
    }
  }
}
