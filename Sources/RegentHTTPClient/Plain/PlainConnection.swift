import CRegentLinux
import Glibc
import RegentHTTPCodec
import RegentPlatform

/// A connection that is being established, carries a call or is kept for the next call.
final class PlainConnection {
  enum State { case connecting, pausing, busy, idle }

  let id: UInt64
  let origin: Origin
  var state = State.connecting
  var call: Call?
  /// The time, on the boot clock, at which the present step of this connection ends: connecting, a pause, or being kept
  /// unused.
  ///
  /// `.max` means no limit.
  var timer = UInt64.max
  /// Whether the call uses a kept connection, which the server may have closed unnoticed.
  var isReused = false
  /// The addresses of the host that were not tried yet.
  var addresses: ArraySlice<SocketAddress>
  /// The address to which this connection is made.
  private(set) var address = SocketAddress()
  private(set) var reader = ResponseReader(answering: .get, bodyLimit: 0)
  private var socket: FileDescriptor?
  private var outgoing: [UInt8] = []
  private var sent = 0
  private var hasLostWriting = false

  init(id: UInt64, _ call: Call, _ addresses: [SocketAddress]) {
    self.id = id
    self.call = call
    self.addresses = addresses[...]
    origin = call.origin
  }

  /// Starts to connect to an address.
  ///
  /// - Returns: true if the connection is made at once, as to Unix sockets.
  func connect(to address: SocketAddress, _ poller: borrowing Poller) throws(SystemError) -> Bool {
    self.address = address
    let kind = CInt(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK
    let number = try systemCall("create", on: "a socket") {
      Glibc.socket(address.family, kind, 0)
    }
    socket = FileDescriptor(owning: number)
    if address.family != AF_UNIX {
      var on: CInt = 1
      // Each request is written completely; without TCP_NODELAY the kernel might wait for more data.
      _ = unsafe setsockopt(
        number, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
      TCPLiveness.watch(number)
    }
    let code = attempt { unsafe address.withPointer { unsafe Glibc.connect(number, $0, $1) } }.code
    // After EINTR the connection attempt continues, as after EINPROGRESS.
    guard code == 0 || code == EINPROGRESS || code == EINTR else {
      throw SystemError(operation: "connect to", subject: "\(origin)", code: code)
    }
    try poller.add(number, code == 0 ? .input : .writable, token: id)
    return code == 0
  }

  /// Whether some of the bytes that were sent have not been acknowledged by the server's machine.
  var isUnacknowledged: Bool { socketNumber.map(TCPLiveness.isUnacknowledged) ?? false }

  /// Whether no response can arrive, because this machine no longer has the local address of the connection.
  var hasLostItsAddress: Bool { origin.scheme != .unix && socketNumber.map(TCPLiveness.hasLostItsAddress) ?? false }

  /// Whether the process that listens on the Unix socket is trusted, judged by the credentials that the kernel reports.
  ///
  /// Called before the request is sent.
  func isTrusted(by trust: ClientConfiguration.ListenerTrust?) -> Bool {
    guard let trust, origin.scheme == .unix else { return true }
    guard let number = socketNumber, let who = try? UnixCredentials(peerOf: number) else { return false }
    return trust(who, origin.host)
  }

  /// The error code of a connection attempt that has ended, or 0 if it succeeded.
  func connectResult() -> CInt {
    guard let number = socketNumber else { return ECONNREFUSED }
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    let asked = attempt { unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) }
    return asked.code == 0 ? code : asked.code
  }

  /// Starts a call on this connection, and sends as much of the request as the socket has room for.
  func carry(_ call: Call, _ poller: borrowing Poller) throws(ClientError.Kind) {
    self.call = call
    state = .busy
    timer = .max
    outgoing = call.encodedRequest
    sent = 0
    reader = ResponseReader(
      answering: call.request.method, bodyLimit: call.request.responseLimit)
    call.phase = .sending
    call.carrier = .plain
    try send(poller)
  }

  var isSent: Bool { sent == outgoing.count && !hasLostWriting }

  /// Sends as much of the rest of the request as the socket has room for.
  func send(_ poller: borrowing Poller) throws(ClientError.Kind) {
    guard let number = socketNumber, !hasLostWriting else { return }
    while sent < outgoing.count {
      let start = sent
      let (count, code) = attempt {
        unsafe outgoing.withUnsafeBytes { bytes in
          unsafe Glibc.send(
            number, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start,
            CInt(MSG_NOSIGNAL))
        }
      }
      if count >= 0 {
        sent += count
      } else if code == EAGAIN {
        return try watch(number, [.input, .writable], poller)
      } else if code != EINTR {
        // The server may have sent a response (413, for example) before it closed the connection. Read that response.
        outgoing = []
        sent = 0
        hasLostWriting = true
        return try watch(number, .input, poller)
      }
    }
    outgoing = []
    sent = 0
    call?.phase = .waiting
    try watch(number, .input, poller)
  }

  /// Reads the bytes of the response that have arrived.
  ///
  /// - Parameter scratch: the buffer for one read.
  /// - Returns: true if the response is complete.
  /// - Throws: the reason why there will be no response.
  func receive(_ scratch: inout [UInt8]) throws(ClientError.Kind) -> Bool {
    guard let number = socketNumber else { throw .connectionLost }
    // The number of reads is limited, so that one fast server cannot delay the calls to others.
    for _ in 0..<16 {
      let (count, code) = attempt { unsafe recv(number, &scratch, scratch.count, 0) }
      if count > 0 {
        call?.phase = .receiving
        try reader.receive(scratch.span.extracting(0..<count))
      } else if count == 0 {
        try reader.end()
      } else if code == EAGAIN || code == EINTR {
        return false
      } else {
        // If ARP finds no host for the keep-alive probes, the kernel reports that instead of a timeout.
        throw [ETIMEDOUT, EHOSTUNREACH, ENETUNREACH].contains(code) ? .connectionSilent : .connectionLost
      }
      if reader.progress == .complete { return true }
    }
    return false
  }

  /// Whether a kept connection is still open and the server has sent nothing.
  func isAlive() -> Bool {
    guard let number = socketNumber else { return false }
    var byte: UInt8 = 0
    return attempt { unsafe recv(number, &byte, 1, CInt(MSG_PEEK)) }.code == EAGAIN
  }

  func close() { socket = nil }

  private var socketNumber: CInt? {
    switch socket {
    case .some(let socket): socket.number
    case .none: nil
    }
  }

  private func watch(
    _ number: CInt, _ interest: Poller.Events, _ poller: borrowing Poller
  ) throws(ClientError.Kind) {
    do throws(SystemError) {
      try poller.change(number, interest, token: id)
    } catch {
      throw .system(error.description)
    }
  }
}
