import PairingStore
import RegentPairing

extension StoreConformance {
  static let codeChecks = [
    ConformanceCheck("a reserved code is returned with all its fields") { stage in
      let record = try stage.registration(1)
      let withdrawn = try await stage.reserve(record)
      try expect(withdrawn.isEmpty, "withdrew \(withdrawn)")
      let kept = try await stage.store.registration(record.id, at: stage.at(1))
      try expect(kept == record, "kept \(String(describing: kept))")
      let all = try await stage.store.registrations(after: nil, limit: 10, at: stage.at(1))
      try expect(all == [record], "listed \(all)")
    },
    ConformanceCheck("a code belongs to one registration until that is forgotten") { stage in
      try await stage.reserve(stage.registration(1))
      let other = RegistrationRecord(
        id: try ConformanceFixture.name("other"), code: try stage.hash(1), requestor: stage.requestor,
        device: try ConformanceFixture.name("device-2"), deviceHash: try stage.hash(1002),
        rowKey: stage.rowKey, flow: PairingFlow(issued: stage.at(0), lifetime: .usual))
      try await expect(.codeTaken) {
        try await stage.store.reserve(other, within: LiveCodeLimits(100), at: stage.at(1))
      }
      // An expired code stays reserved while the service still answers that it has expired.
      try await expect(.codeTaken) {
        try await stage.store.reserve(other, within: LiveCodeLimits(100), at: stage.at(1801))
      }
      try await stage.reserve(other, second: 1800 + 600)
    },
    ConformanceCheck("reserving the same registration again changes nothing") { stage in
      let record = try stage.registration(1)
      try await stage.reserve(record)
      let again = try await stage.reserve(record)
      try expect(again.isEmpty, "withdrew \(again)")
      let status = try await stage.status(record, second: 1)
      try expect(status == .offered, "is \(status)")
    },
    ConformanceCheck("a new code of a device withdraws its earlier code and no other") {
      stage in
      let first = try stage.registration(1)
      let neighbour = try stage.registration(2, device: 2)
      try await stage.reserve(first)
      try await stage.reserve(neighbour)
      let withdrawn = try await stage.reserve(stage.registration(3))
      try expect(withdrawn.map(\.record.id) == [first.id], "withdrew \(withdrawn)")
      try expect(withdrawn.first?.actions.contains(.wakeDevice) == true, "does not wake the device")
      let statuses = try await [
        stage.status(first, second: 1), stage.status(neighbour, second: 1),
      ]
      try expect(statuses == [.withdrawn, .offered], "are \(statuses)")
    },
    ConformanceCheck("forgotten codes are gone before they expire and free their places") { stage in
      let records = try (1...3).map { try stage.registration($0, device: $0) }
      for record in records { try await stage.reserve(record, limit: 3) }
      try await stage.store.forgetCodes([records[0].id, records[1].id, records[0].id])
      for (record, isThere) in [(records[0], false), (records[1], false), (records[2], true)] {
        let found = try await stage.store.registration(record.id, at: stage.at(1))
        try expect((found != nil) == isThere, "\(record.id) is there: \(found != nil)")
      }
      for number in 4...5 {
        try await stage.reserve(stage.registration(number, device: number), limit: 3)
      }
      // A forgotten code can be reserved again.
      try await stage.store.forgetCodes([stage.registration(5).id])
      try await stage.reserve(records[0], limit: 3)
    },
    ConformanceCheck("a new code does not withdraw an earlier code that was denied") { stage in
      let (record, session) = try await stage.claimed(1)
      _ = try await stage.store.deny(record.id, by: session, audit: nil, at: stage.at(2))
      let withdrawn = try await stage.reserve(stage.registration(2), second: 3)
      try expect(withdrawn.isEmpty, "withdrew \(withdrawn)")
      let status = try await stage.status(record, second: 4)
      try expect(status == .denied, "is \(status)")
    },
    ConformanceCheck("the number of pending codes is limited, and expired codes do not count") {
      stage in
      try await stage.reserve(stage.registration(1, device: 1), limit: 2)
      try await stage.reserve(stage.registration(2, device: 2), limit: 2)
      let third = try stage.registration(3, device: 3)
      try await expect(.tooManyLiveCodes(limit: 2)) {
        try await stage.store.reserve(third, within: LiveCodeLimits(2), at: stage.at(1))
      }
      // A code that replaces the device's pending one needs no place of its own.
      try await stage.reserve(stage.registration(4, device: 2), limit: 2)
      try await stage.reserve(
        stage.registration(5, device: 3, second: 1800), limit: 2, second: 1800)
    },
    ConformanceCheck("in a full pool only a requestor with fewer codes than its share gets one") { stage in
      let limits = LiveCodeLimits(4, among: 2)
      let other = try await stage.besides("OTHER")
      func full(_ fixture: ConformanceFixture, _ number: Int, second: Int = 0) async throws {
        let record = try fixture.registration(number, device: number, second: second)
        try await expect(.tooManyLiveCodes(limit: limits.all)) {
          try await fixture.store.reserve(record, within: limits, at: stage.at(second))
        }
      }
      func add(_ fixture: ConformanceFixture, _ number: Int, device: Int, second: Int = 0) async throws {
        let record = try fixture.registration(number, device: device, second: second)
        _ = try await fixture.store.reserve(record, within: limits, at: stage.at(second))
      }
      for number in 1...4 { try await add(stage, number, device: number) }
      try await full(stage, 5)
      try await add(stage, 6, device: 4)
      for number in 11...12 { try await add(other, number, device: number) }
      try await full(other, 13)
      try await full(stage, 7)
      // A code that ended frees a place in its requestor's share, after a second at most.
      try await stage.store.forgetCodes([other.registration(11).id])
      try await full(stage, 8, second: 2)
      try await add(other, 14, device: 14, second: 2)
      try await full(other, 15, second: 2)
      // Expiry frees the places of all requestors.
      for number in 21...24 { try await add(stage, number, device: number, second: 3600) }
      try await full(stage, 25, second: 3600)
    },
    ConformanceCheck("a code needs an existing requestor and an active row key") { stage in
      let record = try stage.registration(1)
      let foreign = RegistrationRecord(
        id: record.id, code: record.code, requestor: try ConformanceFixture.name("nobody"),
        device: record.device, deviceHash: record.deviceHash, rowKey: stage.rowKey,
        flow: record.flow)
      try await expect(.notFound(what: "requestor")) {
        try await stage.store.reserve(foreign, within: LiveCodeLimits(100), at: stage.at(0))
      }
      try await stage.store.setState(
        of: stage.rowKey, to: .retired, audit: nil, at: stage.at(0))
      try await expect(.notFound(what: "row key")) {
        try await stage.store.reserve(record, within: LiveCodeLimits(100), at: stage.at(0))
      }
    },
    ConformanceCheck("a new code reports whether the device has a valid sign-in") { stage in
      func reserve(_ number: Int, device: Int = 1, second: Int) async throws -> Reservation {
        let record = try stage.registration(number, device: device, second: second)
        return try await stage.store.reserve(record, within: LiveCodeLimits(100), at: stage.at(second))
      }
      let first = try await reserve(1, second: 0)
      try expect(!first.hasEarlierSignIn, "signed in before anything happened")
      _ = try await stage.store.signInWithoutCode(stage.guest(1, at: stage.pass), at: stage.at(1))
      let second = try await reserve(2, second: 2)
      try expect(second.hasEarlierSignIn, "the sign-in was not seen")
      let other = try await reserve(3, device: 2, second: 2)
      try expect(!other.hasEarlierSignIn, "another device's was seen")
      let late = try await reserve(4, second: 3700)
      try expect(!late.hasEarlierSignIn, "one that has run out was seen")
      _ = try await stage.store.signInWithoutCode(
        stage.guest(2, at: stage.pass, second: 3700), at: stage.at(3700))
      _ = try await stage.store.signOut(
        requestor: stage.requestor, device: stage.hash(1001), at: stage.at(3701))
      let last = try await reserve(5, second: 3702)
      try expect(!last.hasEarlierSignIn, "one that was ended was seen")
    },
    ConformanceCheck("opening, claiming, renewing and releasing change the state of a code step by step") { stage in
      let record = try stage.registration(1)
      try await stage.reserve(record)
      let session = try await stage.session(1, as: stage.ann)
      let opened = try await stage.store.open(record.id, at: stage.at(1))
      try expect(opened.record.flow.state == .opened, "is \(opened.record.flow.state)")
      try expect(opened.actions == [.wakeDevice], "does \(opened.actions)")
      let claimed = try await stage.store.claim(record.id, by: session, at: stage.at(2))
      let lease = ClaimLease(
        claimer: Claimer(session: session, viewer: stage.ann), until: stage.at(122))
      try expect(claimed.record.flow.state == .claimed(lease), "is \(claimed.record.flow.state)")
      let renewed = try await stage.store.renew(record.id, by: session, at: stage.at(60))
      let longer = ClaimLease(claimer: lease.claimer, until: stage.at(180))
      try expect(renewed.record.flow.state == .claimed(longer), "is \(renewed.record.flow.state)")
      let released = try await stage.store.release(record.id, by: session, at: stage.at(61))
      try expect(released.record.flow.state == .opened, "is \(released.record.flow.state)")
      try expect(released.record.flow.sequence == 4, "sequence \(released.record.flow.sequence)")
      let kept = try await stage.store.registration(record.id, at: stage.at(62))
      try expect(kept == released.record, "kept \(String(describing: kept))")
    },
    ConformanceCheck("a refused state change leaves the code unchanged") { stage in
      let (record, _) = try await stage.claimed(1)
      let before = try await stage.store.registration(record.id, at: stage.at(2))
      let other = try await stage.session(2, as: stage.bob)
      try await expect(.refused(.claimedByAnother(until: stage.at(121)))) {
        try await stage.store.claim(record.id, by: other, at: stage.at(2))
      }
      try await expect(.refused(.notTheClaimer)) {
        try await stage.store.deny(record.id, by: other, audit: nil, at: stage.at(2))
      }
      try await expect(.refused(.notTheClaimer)) {
        try await stage.store.release(record.id, by: other, at: stage.at(2))
      }
      let after = try await stage.store.registration(record.id, at: stage.at(2))
      try expect(before == after, "became \(String(describing: after))")
      let unknown = try ConformanceFixture.name("unknown") as RegistrationID
      try await expect(.notFound(what: "code")) {
        try await stage.store.open(unknown, at: stage.at(2))
      }
    },
    ConformanceCheck("an ended session can neither claim nor approve nor deny a code") { stage in
      let (record, session) = try await stage.claimed(1)
      _ = try await stage.store.endSession(session, audit: nil, at: stage.at(2))
      let request = try stage.yes(session)
      try await expect(.sessionEnded) {
        try await stage.store.approve(record.id, request, audit: nil, at: stage.at(3))
      }
      try await expect(.sessionEnded) {
        try await stage.store.claim(record.id, by: session, at: stage.at(3))
      }
      try await expect(.sessionEnded) {
        try await stage.store.deny(record.id, by: session, audit: nil, at: stage.at(3))
      }
    },
    ConformanceCheck("the list of codes is paged by id and leaves out codes that may be forgotten") { stage in
      for number in 1...5 { try await stage.reserve(stage.registration(number, device: number)) }
      let first = try await stage.store.registrations(after: nil, limit: 2, at: stage.at(1))
      let rest = try await stage.store.registrations(
        after: first.last?.id, limit: 10, at: stage.at(1))
      let ids = (first + rest).map(\.id.text)
      try expect(ids == (1...5).map { "registration-\($0)" }, "listed \(ids)")
      let late = try await stage.store.registrations(after: nil, limit: 10, at: stage.at(2400))
      try expect(late.isEmpty, "listed \(late.count) that may be forgotten")
    },
  ]
}
