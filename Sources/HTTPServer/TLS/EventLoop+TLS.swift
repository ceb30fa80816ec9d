internal import Glibc

extension EventLoop {
  /// Goes on with a handshake; the header deadline runs.
  func shakeHands(_ connection: Connection) {
    guard let tls = connection.tls else { return }
    switch tls.shakeHands() {
    case .bytes:
      connection.phase = .idle
      watch(connection, Poller.readable | Poller.peerClosed)
      // The first request may have come with the last flight.
      receive(on: connection)
    case .wouldBlock:
      watch(connection, tls.wantsRoom ? Poller.writable : Poller.readable | Poller.peerClosed)
    case .ended:
      counters.failedHandshakes.add()
      close(connection)
    }
  }
}
