import HTTPServer
import PairingStore
import RegentHTTPCodec
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

@testable import PairingService

/// More boxes than this machine has file descriptors for: the real waiters and timers, without sockets.
@Suite struct `One hundred thousand parked requests` {
  private static let boxes = 100_000

  /// Counts how the waits ended.
  private final class Ends: Sendable {
    private let state = Locked((changed: 0, timeUp: 0, other: 0, replies: 0))

    func add(_ end: Waiters.End) {
      state.withLock { state in
        switch end {
        case .changed, .approved: state.changed += 1
        case .timeUp: state.timeUp += 1
        case .displaced, .stopping: state.other += 1
        }
      }
    }

    func addReply() { state.withLock { $0.replies += 1 } }
    var now: (changed: Int, timeUp: Int, other: Int, replies: Int) { state.withLock { $0 } }
  }

  @Test func `each parked request is completed exactly once, by a change or by its deadline`() async throws {
    let waiters = Waiters(clock: .machine)
    let ends = Ends()
    let ids = try (0..<Self.boxes).map { try #require(RegistrationID("waiting-\($0)")) }
    let hasChanged = Flag()
    for (number, id) in ids.enumerated() {
      let span = number.isMultiple(of: 2) ? Duration.seconds(3_600) : .milliseconds(number % 1_000)
      let reply = PendingReply { _ in ends.addReply() }
      waiters.park(reply, for: .code(id), .device(.check, .owner), from: nil, span: span, while: { !hasChanged.isSet })
      { end in
        ends.add(end)
        reply.complete(.text(.ok, ""))
      }
    }
    try await eventually("half of the requests reached their deadline") { ends.now.timeUp == Self.boxes / 2 }
    #expect(waiters.count == Self.boxes / 2)
    hasChanged.set()
    for id in ids { waiters.wake(.device, of: .code(id)) }
    let all = ends.now
    #expect(all.changed == Self.boxes / 2 && all.other == 0 && all.replies == Self.boxes)
    #expect(waiters.count == 0)
  }

  @Test func `the check whether a request still waits may use the table of waiters`() async throws {
    let waiters = Waiters(clock: .machine)
    let id = try #require(RegistrationID("waiting"))
    let (ends, hasChanged) = (Ends(), Flag())
    for place in [Waiters.Resource.check, .poll] {
      waiters.park(
        PendingReply { _ in }, for: .code(id), .device(place, .owner), from: nil, span: .seconds(60),
        // A thread that holds the lock of the table would wait for itself here.
        while: { waiters.count < 0 || !hasChanged.isSet },
        end: { ends.add($0) })
    }
    hasChanged.set()
    waiters.wake(.phone, of: .code(id))
    #expect(waiters.count == 2)
    waiters.wake(.device, of: .code(id))
    #expect(waiters.count == 0 && ends.now.changed == 2)
  }

  @Test func `a device that parks requests again and again leaves few entries behind`() throws {
    let waiters = Waiters(clock: .machine)
    let id = try #require(RegistrationID("waiting"))
    let ends = Ends()
    for _ in 0..<20_000 {
      waiters.park(
        PendingReply { _ in ends.addReply() }, for: .code(id), .device(.check, .owner), from: nil,
        span: .seconds(3_600),
        while: { true }, end: ends.add)
    }
    #expect(waiters.count == 1)
    #expect(waiters.entries < 2_000)
    #expect(ends.now.other == 19_999)
    waiters.stop()
    #expect(waiters.entries == 0)
  }
}

@Suite struct `Long polls when there are too many` {
  private let waiters = Waiters(clock: .machine, room: 320)
  private let displaced = Displaced()

  /// Counts the displaced long polls by name.
  private final class Displaced: Sendable {
    private let state = Locked<[String: Int]>([:])
    var all: [String: Int] { state.withLock { $0 } }
    func add(_ name: String) { state.withLock { $0[name, default: 0] += 1 } }
  }

  /// Parks one long poll for a code of its own.
  private func park(_ name: String, _ number: Int, from source: SourceKey?, at place: Waiters.Place? = nil) throws {
    let id = try #require(RegistrationID(place == nil ? "\(name)-\(number)" : name))
    let reply = PendingReply { _ in }
    waiters.park(
      reply, for: .code(id), place ?? .device(.token, .owner), from: source, span: .seconds(600), while: { true }
    ) { [displaced] end in
      if case .displaced = end { displaced.add(name) }
      reply.complete(.text(.ok, ""))
    }
  }

  @Test func `one network cannot hold the long polls of all others`() throws {
    let flood = SourceKey(address: [192, 0, 2, 1])
    for number in 0..<20 { try park("local", number, from: nil) }
    for number in 0..<40 { try park("hotel", number, from: SourceKey(address: [198, 51, 100, 7])) }
    for number in 0..<2_000 { try park("flood", number, from: flood) }
    for number in 0..<100 { try park("boxes", number, from: SourceKey(address: [203, 0, 113, UInt8(number)])) }
    #expect(waiters.count <= 320)
    let lost = displaced.all
    #expect(lost["flood", default: 0] >= 1_840 && lost.count == 1, "\(lost)")
    // What the flood held is free again when its long polls end, and the count of the network too.
    waiters.stop()
    waiters.takes(true)
    for number in 0..<320 { try park("after", number, from: flood) }
    #expect(waiters.count == 320)
  }

  @Test func `long polls of many small networks all stay`() throws {
    for number in 0..<400 {
      try park("boxes", number, from: SourceKey(address: [10, 0, UInt8(number / 30), 1]))
    }
    #expect(waiters.count == 400)
  }

  @Test func `a code has at most eight waiting pages, and the oldest makes room`() throws {
    for number in 0..<100 { try park("page", number, from: nil, at: waiters.phonePlace()) }
    #expect(waiters.count == 8)
    #expect(displaced.all["page"] == 92)
  }
}

private final class Flag: Sendable {
  private let state = Locked(false)
  var isSet: Bool { state.withLock { $0 } }
  func set() { state.withLock { $0 = true } }
}
