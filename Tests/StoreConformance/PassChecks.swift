import PairingStore
import RegentPairing

extension StoreConformance {
  static let passChecks = [
    ConformanceCheck("a temporary pass runs from its first opening, and its permits and sign-in end with it") { stage in
      let guest = try await stage.store.signInWithoutCode(stage.guest(1, at: stage.pass), at: stage.at(0))
      try expect(guest.authentication.expires == stage.at(3600), "ends at another time")
      let id = guest.authentication.id
      let permit = try await stage.store.openTemporarily(
        id, ConformanceFixture.name("A"), at: stage.at(1000))
      try expect(permit.expires == stage.at(4600), "the permit ends at another time")
      let signIn = try await stage.pickUp(second: 1001).signIn
      try expect(
        signIn?.authentication.expires == stage.at(4600), "does not end with the pass")
      let later = try await stage.store.openTemporarily(id, ConformanceFixture.name("B"), at: stage.at(2000))
      try expect(later.expires == stage.at(4600), "a later opening has more time")
    },
    ConformanceCheck("signing out and in again continues a temporary pass, and never restarts it") {
      stage in
      let guest = try await stage.store.signInWithoutCode(stage.guest(1, at: stage.pass), at: stage.at(0))
      _ = try await stage.store.openTemporarily(
        guest.authentication.id, ConformanceFixture.name("A"), at: stage.at(100))
      _ = try await stage.store.signOut(
        requestor: stage.requestor, device: stage.hash(1001), at: stage.at(200))
      let again = try await stage.store.signInWithoutCode(
        stage.guest(2, at: stage.pass, second: 300), at: stage.at(300))
      try expect(again.authentication.expires == stage.at(3700), "has another rest")
      try await expect(.pass(.durationExceeded)) {
        try await stage.store.signInWithoutCode(
          stage.guest(3, at: stage.pass, second: 3700), at: stage.at(3700))
      }
      // Another device has its own pass.
      let other = try await stage.store.signInWithoutCode(
        stage.guest(4, at: stage.pass, device: 2, second: 3700), at: stage.at(3700))
      try expect(other.authentication.expires == stage.at(7300), "shares another device's pass")
    },
    ConformanceCheck("a promotional pass counts by device and by identity") { stage in
      try await expect(.pass(.identityMissing)) {
        try await stage.store.signInWithoutCode(stage.guest(1, at: stage.promotion), at: stage.at(0))
      }
      let first = try await stage.store.signInWithoutCode(
        stage.guest(1, at: stage.promotion, identity: 1), at: stage.at(0))
      for title in ["A", "B", "A"] {
        _ = try await stage.store.openTemporarily(
          first.authentication.id, ConformanceFixture.name(title), at: stage.at(10))
      }
      try await expect(.pass(.resourcesExceeded)) {
        try await stage.store.openTemporarily(
          first.authentication.id, ConformanceFixture.name("C"), at: stage.at(11))
      }
      // The same device with another identity, then another device with the same identity.
      let pairs = [(device: 1, identity: 2, number: 2), (2, 1, 3)]
      for (device, identity, number) in pairs {
        let guest = try await stage.store.signInWithoutCode(
          stage.guest(number, at: stage.promotion, device: device, identity: identity),
          at: stage.at(20))
        try expect(guest.authentication.expires == stage.at(3610), "began anew")
        try await expect(.pass(.resourcesExceeded)) {
          try await stage.store.openTemporarily(
            guest.authentication.id, ConformanceFixture.name("C"), at: stage.at(21))
        }
      }
      let fresh = try await stage.store.signInWithoutCode(
        stage.guest(4, at: stage.promotion, device: 3, identity: 3, second: 20), at: stage.at(20))
      _ = try await stage.store.openTemporarily(
        fresh.authentication.id, ConformanceFixture.name("C"), at: stage.at(21))
      let use = try await stage.store.temporaryPass(
        requestor: stage.requestor, provider: stage.promotion, device: stage.hash(1001),
        identity: stage.hash(3001))
      try expect(use.resources.count == 2 && use.started == stage.at(10), "has used \(use)")
    },
    ConformanceCheck("a pass that counts titles names long ones by a hash, and counts each once") { stage in
      let guest = try await stage.store.signInWithoutCode(
        stage.guest(1, at: stage.promotion, identity: 1), at: stage.at(0))
      let long = String(repeating: "x", count: 8_000)
      for title in [long, long, "A", long] {
        _ = try await stage.store.openTemporarily(
          guest.authentication.id, ConformanceFixture.name(title), at: stage.at(10))
      }
      try await expect(.pass(.resourcesExceeded)) {
        try await stage.store.openTemporarily(
          guest.authentication.id, ConformanceFixture.name(long + "y"), at: stage.at(11))
      }
      let use = try await stage.store.temporaryPass(
        requestor: stage.requestor, provider: stage.promotion, device: stage.hash(1001),
        identity: stage.hash(3001))
      let names = use.resources.map(\.text).sorted()
      try expect(names.count == 2 && names[0] == "A" && names[1].utf8.count == 71, "has used \(names)")
    },
    ConformanceCheck("started passes are listed in order, page by page") { stage in
      let guests = [
        (stage.pass, 1, nil), (stage.pass, 2, nil), (stage.promotion, 1, 1),
        (stage.promotion, 1, 2),
      ]
      for (number, (provider, device, identity)) in guests.enumerated() {
        let guest = try await stage.store.signInWithoutCode(
          stage.guest(number + 1, at: provider, device: device, identity: identity),
          at: stage.at(number))
        _ = try await stage.store.openTemporarily(
          guest.authentication.id, ConformanceFixture.name("A"), at: stage.at(number))
      }
      var all: [TemporaryPassRecord] = []
      while true {
        let page = try await stage.store.temporaryPasses(
          requestor: nil, provider: nil, after: all.last?.place, limit: 3)
        all += page
        if page.count < 3 { break }
      }
      try expect(all.count == 4 && all.map(\.place) == all.map(\.place).sorted(), "are \(all)")
      let starts = Set(all.compactMap(\.use.started))
      try expect(starts == Set((0...2).map(stage.at)), "began at \(starts)")
      let some = try await stage.store.temporaryPasses(
        requestor: stage.requestor, provider: stage.pass, after: nil, limit: 9)
      try expect(some == all.filter { $0.provider == stage.pass }, "are \(some)")
      let none = try await stage.store.temporaryPasses(
        requestor: ConformanceFixture.name("nobody"), provider: nil, after: nil, limit: 9)
      try expect(none.isEmpty, "are \(none)")
    },
    ConformanceCheck("resetting one pass lets it start anew and leaves the others") { stage in
      for device in 1...2 {
        let guest = try await stage.store.signInWithoutCode(
          stage.guest(device, at: stage.pass, device: device), at: stage.at(0))
        _ = try await stage.store.openTemporarily(
          guest.authentication.id, ConformanceFixture.name("A"), at: stage.at(1))
      }
      for expected in [1, 0] {
        let begun = try await stage.store.resetTemporaryPasses(
          requestor: stage.requestor, provider: stage.pass, .device(stage.hash(1001)), audit: nil,
          at: stage.at(2))
        try expect(begun == expected, "\(begun) had been begun, not \(expected)")
      }
      let left = try await stage.allAuthentications()
      try expect(left.map(\.device.text) == ["device-2"], "left \(left.map(\.device.text))")
      let again = try await stage.store.signInWithoutCode(
        stage.guest(3, at: stage.pass, second: 5000), at: stage.at(5000))
      try expect(again.authentication.expires == stage.at(8600), "did not begin anew")
      try await expect(.pass(.durationExceeded)) {
        try await stage.store.signInWithoutCode(
          stage.guest(4, at: stage.pass, device: 2, second: 5000), at: stage.at(5000))
      }
      try await stage.store.resetTemporaryPasses(
        requestor: stage.requestor, provider: stage.pass, .all, audit: nil, at: stage.at(5001))
      _ = try await stage.store.signInWithoutCode(
        stage.guest(5, at: stage.pass, device: 2, second: 5002), at: stage.at(5002))
    },
    ConformanceCheck("resetting a pass by identity also frees the devices it was used on") { stage in
      let guest = try await stage.store.signInWithoutCode(
        stage.guest(1, at: stage.promotion, identity: 1), at: stage.at(0))
      _ = try await stage.store.openTemporarily(
        guest.authentication.id, ConformanceFixture.name("A"), at: stage.at(1))
      try await stage.store.resetTemporaryPasses(
        requestor: stage.requestor, provider: stage.promotion, .identity(stage.hash(3001)),
        audit: nil, at: stage.at(2))
      let use = try await stage.store.temporaryPass(
        requestor: stage.requestor, provider: stage.promotion, device: stage.hash(1001),
        identity: stage.hash(3001))
      try expect(use == TemporaryPassUse(), "has used \(use)")
    },
    ConformanceCheck("used-up passes over the limit are forgotten oldest first, and the others stay used up") {
      stage in
      func begin(_ device: Int, second: Int) async throws {
        let guest = try await stage.store.signInWithoutCode(
          stage.guest(device, at: stage.pass, device: device, second: second), at: stage.at(second))
        _ = try await stage.store.openTemporarily(
          guest.authentication.id, ConformanceFixture.name("A"), at: stage.at(second))
      }
      func isUsed(_ device: Int) async throws -> Bool {
        let use = try await stage.store.temporaryPass(
          requestor: stage.requestor, provider: stage.pass, device: stage.hash(1000 + device),
          identity: nil)
        return use.started != nil
      }
      func used() async throws -> [Int] {
        var used: [Int] = []
        for device in 1...6 where try await isUsed(device) { used.append(device) }
        return used
      }
      for device in 1...4 { try await begin(device, second: device) }
      for device in 5...6 { try await begin(device, second: 4000 + device) }
      // Delete everything else that has expired by then, so that the next steps concern passes only.
      while try await stage.store.forgetExpired(at: stage.at(5000), limit: 100, remembering: 6) > 0 {}
      var left = try await used()
      try expect(left == [1, 2, 3, 4, 5, 6], "as many as are remembered: \(left)")
      let gone = try await stage.store.forgetExpired(at: stage.at(5000), limit: 1, remembering: 4)
      left = try await used()
      try expect(gone == 1 && left == [2, 3, 4, 5, 6], "one step: \(gone) went, \(left)")
      while try await stage.store.forgetExpired(at: stage.at(5000), limit: 1, remembering: 3) > 0 {}
      left = try await used()
      try expect(left == [4, 5, 6], "the newest three: \(left)")
      try await expect(.pass(.durationExceeded)) {
        try await stage.store.signInWithoutCode(
          stage.guest(7, at: stage.pass, device: 4, second: 5001), at: stage.at(5001))
      }
      // Running passes are kept, even if they exceed the limit.
      while try await stage.store.forgetExpired(at: stage.at(5000), limit: 9, remembering: 0) > 0 {}
      left = try await used()
      try expect(left == [5, 6], "those that run: \(left)")
    },
    ConformanceCheck("passes that run do not keep ended ones behind them from being forgotten") { stage in
      // Whichever of the later rows the clean-up looks at, it finds ended ones behind those that run.
      for device in 1...6 {
        let second = device <= 3 ? 4000 + device : device
        let guest = try await stage.store.signInWithoutCode(
          stage.guest(device, at: stage.pass, device: device, second: second), at: stage.at(second))
        _ = try await stage.store.openTemporarily(
          guest.authentication.id, ConformanceFixture.name("A"), at: stage.at(second))
      }
      while try await stage.store.forgetExpired(at: stage.at(5000), limit: 100, remembering: 6) > 0 {}
      while try await stage.store.forgetExpired(at: stage.at(5000), limit: 2, remembering: 0) > 0 {}
      var left: [Int] = []
      for device in 1...6 {
        let use = try await stage.store.temporaryPass(
          requestor: stage.requestor, provider: stage.pass, device: stage.hash(1000 + device), identity: nil)
        if use.started != nil { left.append(device) }
      }
      try expect(left == [1, 2, 3], "those that run: \(left)")
    },
    ConformanceCheck("a guest can sign in only through a temporary pass or during degradation") {
      stage in
      try await expect(.notInForce(.accountGone)) {
        try await stage.store.signInWithoutCode(stage.guest(1, at: stage.local), at: stage.at(0))
      }
      let open = Integration(
        requestor: stage.requestor, provider: stage.local, degradation: .authenticateEverybody)
      let usual = Integration(requestor: stage.requestor, provider: stage.local)
      let guest = try stage.guest(1, at: stage.local)
      let degraded = AuthenticationRecord(
        authentication: Authentication(
          id: guest.authentication.id, requestor: stage.requestor,
          viewer: guest.authentication.viewer, household: nil, profile: nil, source: .degraded,
          issued: stage.at(0), expires: stage.at(900)), device: guest.device,
        deviceHash: guest.deviceHash, rowKey: stage.rowKey)
      try await expect(.notInForce(.accountGone)) {
        try await stage.store.signInWithoutCode(degraded, at: stage.at(0))
      }
      try await stage.put(.integration(open), replacing: .integration(usual))
      let kept = try await stage.store.signInWithoutCode(degraded, at: stage.at(0))
      try expect(kept.record == degraded, "kept \(kept)")
      try expect(kept.account == nil && kept.integration == open, "stands on \(kept)")
      try await stage.put(.integration(usual), replacing: .integration(open))
      try await expect(.notInForce(.accountGone)) { try await stage.pickUp(second: 1) }
    },
    ConformanceCheck("a degraded sign-in does not replace a valid one") { stage in
      let signedIn = try await stage.signedIn(1)
      let open = Integration(
        requestor: stage.requestor, provider: stage.local, degradation: .authenticateEverybody)
      let usual = Integration(requestor: stage.requestor, provider: stage.local)
      try await stage.put(.integration(open), replacing: .integration(usual))
      let degraded = AuthenticationRecord(
        authentication: Authentication(
          id: try ConformanceFixture.name("late"), requestor: stage.requestor,
          viewer: Viewer(provider: stage.local, account: nil), household: nil, profile: nil,
          source: .degraded, issued: stage.at(3), expires: stage.at(900)),
        device: signedIn.device, deviceHash: signedIn.deviceHash, rowKey: stage.rowKey)
      let kept = try await stage.store.signInWithoutCode(degraded, at: stage.at(3))
      try expect(kept.record == signedIn, "kept \(kept)")
      try expect(try kept.account == stage.account(stage.ann), "stands on \(kept)")
      let found = try await stage.pickUp(second: 4)
      try expect(found.signIn?.record == signedIn, "got \(found)")
    },
  ]
}
