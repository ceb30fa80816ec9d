import CRegentCurl
import Glibc
import RegentPlatform

/// Makes https calls with libcurl's multi interface.
///
/// The client's poller waits for the sockets, so libcurl never blocks.
@safe final class TLSTransport {
  private unowned let loop: ClientLoop
  private let library: CurlLibrary
  private let multi: UnsafeMutableRawPointer
  private var transfers: [UInt64: TLSTransfer] = [:]
  private var watched: Set<CInt> = []
  private var timer = UInt64.max

  init(_ loop: ClientLoop) throws(ClientError.Kind) {
    let library = unsafe try CurlLibrary()
    guard let multi = unsafe library.makeMulti() else { throw .libraryMissing("it does not start") }
    self.loop = loop
    unsafe self.library = unsafe library
    unsafe self.multi = unsafe multi
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let codes = unsafe [
      regent_set_socket_callback(library.setMultiOption, multi, watchSocket, context),
      regent_set_timer_callback(library.setMultiOption, multi, changeTimer, context),
      regent_set_multi_long(
        library.setMultiOption, multi, CURLMOPT_MAXCONNECTS,
        max(1, loop.configuration.idleConnections)),
    ]
    guard codes.allSatisfy({ $0 == CURLM_OK }) else { throw .libraryMissing("it is too old") }
  }

  /// The next time at which libcurl, or the check of a connection, is due.
  var nextTimer: UInt64 { transfers.values.reduce(timer) { min($0, $1.secondTry) } }

  func start(_ call: Call, _ addresses: [SocketAddress]) throws(ClientError.Kind) {
    let transfer = try carry(call, addresses, doubt: nil)
    if call.request.isIdempotent, !call.needsNewConnection {
      transfer.secondTry = Clocks.bootNanoseconds() + TCPLiveness.secondTry
    }
  }

  @discardableResult
  private func carry(
    _ call: Call, _ addresses: [SocketAddress], doubt: ClientError.TLSFault?
  ) throws(ClientError.Kind) -> TLSTransfer {
    guard let easy = unsafe library.makeEasy() else { throw .system("out of memory for a call") }
    let transfer = unsafe TLSTransfer(
      call, addresses, easy, library, checkTime: checkTime, loop.serverTime, doubt: doubt)
    guard transfer.prepare(loop.configuration) else {
      throw .libraryMissing("it refuses an option that safety depends on")
    }
    transfers[call.ticket.id] = transfer
    call.carrier = .tls
    guard unsafe library.addHandle(multi, easy) == CURLM_OK else {
      transfers[call.ticket.id] = nil
      throw .system("libcurl does not take the call")
    }
    return transfer
  }

  private var checkTime: Int64 {
    loop.configuration.checkTime(wall: loop.configuration.wallClock(), seen: loop.serverTime.latest)
  }

  func handle(_ event: Poller.Event) {
    var flags: CInt = 0
    if event.isReadable { flags |= CURL_CSELECT_IN }
    if event.isWritable { flags |= CURL_CSELECT_OUT }
    let socket = curl_socket_t(truncatingIfNeeded: event.token)
    if event.events.hasAny(of: .failed), let transfer = transfers.values.first(where: { $0.socket == socket }),
      TCPLiveness.hasFallenSilent(socket)
    {
      // libcurl would send the request again on a new connection, although the server may have received it.
      abandon(transfer.call)
      return loop.fail(transfer.call, .connectionSilent)
    }
    act(socket, flags)
  }

  func expire(_ now: UInt64) {
    for transfer in Array(transfers.values) where transfer.secondTry <= now {
      transfer.secondTry = .max
      guard transfer.isReused, transfer.isUnacknowledged else { continue }
      abandon(transfer.call)
      loop.repeatOnNewConnection(transfer.call)
    }
    guard timer <= now else { return }
    timer = .max
    act(regent_timeout_socket(), 0)
  }

  /// Ends the transfers that use an address which this machine no longer has; see ``PlainTransport/dropLost()``.
  func dropLost() {
    for transfer in Array(transfers.values) where transfer.hasLostItsAddress {
      let isUnseen = transfer.isUnacknowledged
      abandon(transfer.call)
      loop.lostConnection(of: transfer.call, isUnseen: isUnseen)
    }
  }

  /// Stores the phase of a call before it fails because of its deadline.
  func notePhase(of call: Call) {
    if let transfer = transfers[call.ticket.id] { call.phase = transfer.phase }
  }

  func abandon(_ call: Call) {
    guard let transfer = transfers.removeValue(forKey: call.ticket.id) else { return }
    unsafe _ = library.removeHandle(multi, transfer.easy)
  }

  func shutDown() {
    for transfer in transfers.values { unsafe _ = library.removeHandle(multi, transfer.easy) }
    transfers = [:]
    unsafe _ = library.freeMulti(multi)
  }

  private func act(_ socket: curl_socket_t, _ flags: CInt) {
    var running: CInt = 0
    _ = unsafe library.socketAction(multi, socket, flags, &running)
    collectFinished()
  }

  /// Completes the transfers that have ended.
  ///
  /// Never called from a callback of libcurl, because completing a call may start the next one.
  private func collectFinished() {
    var left: CInt = 0
    while let message = unsafe library.readMessage(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE,
        let easy = unsafe message.pointee.easy_handle
      else { continue }
      let result = unsafe regent_message_result(message)
      guard let id = transfers.first(where: { unsafe $0.value.easy == easy })?.key,
        let transfer = transfers.removeValue(forKey: id)
      else { continue }
      unsafe _ = library.removeHandle(multi, easy)
      finish(transfer, result)
    }
  }

  private func finish(_ transfer: TLSTransfer, _ result: CURLcode) {
    let wall = loop.configuration.wallClock()
    if let doubt = transfer.doubt {
      return loop.fail(transfer.call, .tls(doubt.judged(by: transfer.serverClock, wall: wall)))
    }
    do throws(ClientError.Kind) {
      if let failure = transfer.failure { throw failure }
      guard result == CURLE_OK else { throw transfer.kind(of: result) }
      loop.answer(transfer.call, try transfer.response())
    } catch {
      if case .tls(let fault) = error, fault == .expired || fault == .notYetValid {
        doubtTheClock(transfer, fault, wall: wall)
      } else {
        loop.fail(transfer.call, error)
      }
    }
  }

  /// Asks the server for its time, to find out whether the certificate is bad or this machine's clock is wrong.
  private func doubtTheClock(_ transfer: TLSTransfer, _ fault: ClientError.TLSFault, wall: Int64) {
    let call = transfer.call
    let time = checkTime
    guard time <= wall else {
      // The time of the check is later than the wall clock, so the wall clock is certainly behind. If that time came
      // from a file, it may be later than the real time too, so the certificate need not have expired.
      let isExpired = fault == .expired && time != loop.configuration.earliestTime
      return loop.fail(call, .tls(isExpired ? .expired : .clockBehind))
    }
    call.doubt = fault
    do throws(ClientError.Kind) {
      try carry(call, transfer.addresses, doubt: fault)
    } catch {
      loop.fail(call, .tls(fault))
    }
  }

  fileprivate func watch(_ socket: curl_socket_t, _ what: CInt, for easy: UnsafeMutableRawPointer?) {
    if let transfer = transfers.values.first(where: { unsafe $0.easy == easy }) {
      transfer.socket = what == CURL_POLL_REMOVE ? nil : socket
    }
    guard what != CURL_POLL_REMOVE else {
      if watched.remove(socket) != nil { loop.poller.remove(socket) }
      return
    }
    var interest: Poller.Events = []
    if what & CURL_POLL_IN != 0 { interest.formUnion(.input) }
    if what & CURL_POLL_OUT != 0 { interest.insert(.writable) }
    let token = ClientLoop.tlsTokenBit | UInt64(UInt32(bitPattern: socket))
    if watched.insert(socket).inserted {
      TCPLiveness.watch(socket)
      try? loop.poller.add(socket, interest, token: token)
    } else {
      try? loop.poller.change(socket, interest, token: token)
    }
  }

  fileprivate func note(milliseconds: Int) {
    timer =
      milliseconds < 0 ? .max : Clocks.bootNanoseconds() + UInt64(milliseconds) * 1_000_000
  }
}

// MARK: - libcurl's callbacks; libcurl calls them only on the client's thread and inside one of this class's calls

private func transport(_ context: UnsafeMutableRawPointer?) -> TLSTransport? {
  guard let context = unsafe context else { return nil }
  return unsafe Unmanaged<TLSTransport>.fromOpaque(context).takeUnretainedValue()
}

private func watchSocket(
  _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: CInt,
  _ context: UnsafeMutableRawPointer?, _ socketContext: UnsafeMutableRawPointer?
) -> CInt {
  unsafe transport(context)?.watch(socket, what, for: easy)
  return 0
}

private func changeTimer(
  _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> CInt {
  unsafe transport(context)?.note(milliseconds: milliseconds)
  return 0
}
