import CRegentLinux
import Glibc
import RegentHTTPCodec
import RegentPlatform

/// One connection of ours: being made, carrying a call, or kept for the next.
final class PlainConnection {
  enum State { case connecting, pausing, busy, idle }

  let id: UInt64
  let origin: Origin
  var state = State.connecting
  var call: Call?
  /// When the attempt, the pause or the keeping ends, on the boot-time clock; `.max` without an end.
  var timer = UInt64.max
  /// Whether the call found it kept, so that it may be dead already.
  var isReused = false
  /// The addresses not tried yet.
  var addresses: ArraySlice<SocketAddress>
  /// The address that is tried, or connected.
  private(set) var address = SocketAddress()
  private(set) var reader = ResponseReader(answering: .get, bodyLimit: 0)
  private var socket: FileDescriptor?
  private var outgoing: [UInt8] = []
  private var sent = 0
  private var hasLostWriting = false
  /// Whether the kernel gave it up for silence.
  private(set) var isSilent = false

  init(id: UInt64, _ call: Call, _ addresses: [SocketAddress]) {
    self.id = id
    self.call = call
    self.addresses = addresses[...]
    origin = call.origin
  }

  /// Begins to connect to an address.
  ///
  /// - Returns: true when it is connected at once, as Unix sockets are.
  func connect(to address: SocketAddress, _ poller: borrowing Poller) throws(SystemError) -> Bool {
    self.address = address
    let kind = CInt(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK
    let number = try systemCall("create", on: "a socket") {
      Glibc.socket(address.family, kind, 0)
    }
    socket = FileDescriptor(owning: number)
    if address.family != AF_UNIX {
      var on: CInt = 1
      // A request is written whole; waiting for more to come would only delay it.
      _ = unsafe setsockopt(
        number, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
      TCPLiveness.watch(number)
    }
    let code = attempt { unsafe address.withPointer { unsafe Glibc.connect(number, $0, $1) } }.code
    // After EINTR the attempt goes on like after EINPROGRESS.
    guard code == 0 || code == EINPROGRESS || code == EINTR else {
      throw SystemError(operation: "connect to", subject: "\(origin)", code: code)
    }
    try poller.add(number, code == 0 ? .input : .writable, token: id)
    return code == 0
  }

  /// Whether the request was sent, and the server's machine has not even acknowledged it.
  var isUnacknowledged: Bool { socketNumber.map(TCPLiveness.isUnacknowledged) ?? false }

  /// Whether no answer can come because this machine's address is another one now.
  var hasLostItsAddress: Bool { origin.scheme != .unix && socketNumber.map(TCPLiveness.hasLostItsAddress) ?? false }

  /// Whether whoever listens is somebody to speak to: the kernel's word, before anything is sent.
  func isTrusted(by trust: ClientConfiguration.ListenerTrust?) -> Bool {
    guard let trust, origin.scheme == .unix else { return true }
    guard let number = socketNumber, let who = try? UnixCredentials(peerOf: number) else { return false }
    return trust(who, origin.host)
  }

  /// What the kernel says of an attempt that has ended.
  func connectResult() -> CInt {
    guard let number = socketNumber else { return ECONNREFUSED }
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    let asked = attempt { unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) }
    return asked.code == 0 ? code : asked.code
  }

  /// Takes a call on and sends as much of it as the socket takes.
  func carry(_ call: Call, _ poller: borrowing Poller) throws(ClientError.Kind) {
    self.call = call
    state = .busy
    timer = .max
    outgoing = call.request.encoded()
    sent = 0
    reader = ResponseReader(
      answering: call.request.method, bodyLimit: call.request.responseLimit)
    call.phase = .sending
    call.carrier = .plain
    try send(poller)
  }

  /// Whether the whole request is out.
  var isSent: Bool { sent == outgoing.count && !hasLostWriting }

  /// Goes on sending.
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
        // The server may have answered before it closed (413, for example): read what there is.
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

  /// Reads what has come.
  ///
  /// - Parameter scratch: room for one read.
  /// - Returns: true when the answer is complete.
  /// - Throws: why there will be no answer.
  func receive(_ scratch: inout [UInt8]) throws(ClientError.Kind) -> Bool {
    guard let number = socketNumber else { throw .connectionLost }
    // A few reads at a time, so that one fast server cannot hold the others' calls up.
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
        isSilent = code == ETIMEDOUT
        throw .connectionLost
      }
      if reader.progress == .complete { return true }
    }
    return false
  }

  /// Whether a kept connection is still quiet and open.
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
