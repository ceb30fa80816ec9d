import PairingStore
import RegentPairing

extension StoreConformance {
  static let enrolmentChecks = [
    ConformanceCheck("an invitation gives one box a key pair, and a retry of that box the same pair") { stage in
      try await stage.invite(1)
      let first = try await stage.redeem(1, box: "box-1", second: 2)
      let again = try await stage.redeem(1, box: "box-1", pair: 2, second: 3)
      try expect(first == again && first.purpose == .calls, "is \(again)")
      try expect(try await stage.store.provisioning().keyPairs[first.publicKey] == first, "the pair is not there")
      try await expect(EnrolmentRecord.missing) { try await stage.redeem(1, box: "box-2", pair: 3, second: 4) }
      try expect(
        try await stage.store.provisioning().keyPairs[stage.pair(3).publicKey] == nil, "a refused box has a pair")
    },
    ConformanceCheck("when many boxes redeem one invitation at once, one succeeds") { stage in
      try await stage.invite(1)
      let results = try await stage.together(64) { number in
        try await stage.redeem(1, box: "box-\(number)", pair: number, second: 2)
      }
      try expect(results.successes().count == 1, "\(results.successes().count) did")
    },
    ConformanceCheck("an invitation for several boxes can be redeemed by that many") { stage in
      try await stage.invite(1, uses: 3)
      let results = try await stage.together(16) { number in
        try await stage.redeem(1, box: "box-\(number)", pair: number, second: 2)
      }
      try expect(results.successes().count == 3, "\(results.successes().count) did")
    },
    ConformanceCheck("an invitation that has expired, was revoked or was never made is not found") { stage in
      try await stage.invite(1)
      try await expect(EnrolmentRecord.missing) { try await stage.redeem(1, second: 3600) }
      try expect(try await stage.store.enrolment(stage.invitation(1), at: stage.at(3600)) == nil, "stands")
      _ = try await stage.redeem(1, second: 3599)
      try await stage.store.revokeEnrolment(stage.invitation(1), audit: nil, at: stage.at(5))
      try await expect(EnrolmentRecord.missing) { try await stage.redeem(1, second: 6) }
      try await expect(EnrolmentRecord.missing) {
        try await stage.store.revokeEnrolment(stage.invitation(1), audit: nil, at: stage.at(7))
      }
      try await expect(EnrolmentRecord.missing) { try await stage.redeem(2, second: 6) }
    },
    ConformanceCheck("a box whose key pair was revoked does not get it from its invitation again") { stage in
      try await stage.invite(1, uses: 2)
      let pair = try await stage.redeem(1, box: "box-1", second: 2)
      try await stage.store.setState(of: pair.publicKey, to: .revoked, audit: nil, at: stage.at(3))
      try await expect(EnrolmentRecord.missing) { try await stage.redeem(1, box: "box-1", pair: 2, second: 4) }
    },
    ConformanceCheck("the number of a requestor's invitations is limited, and expired ones do not count") { stage in
      for number in 0..<EnrolmentRecord.mostOfRequestor { try await stage.invite(number) }
      try await stage.invite(0)
      try await expect(.tooManyLiveCodes(limit: EnrolmentRecord.mostOfRequestor)) { try await stage.invite(900) }
      let listed = try await stage.store.enrolments(at: stage.at(1))
      try expect(listed.count == EnrolmentRecord.mostOfRequestor, "lists \(listed.count)")
      try await stage.invite(900, second: 3600)
      try await expect(.codeTaken) { try await stage.invite(900, uses: 2, second: 3600) }
      let gone = try await stage.store.forgetExpired(at: stage.at(3600), limit: 1000)
      try expect(gone == EnrolmentRecord.mostOfRequestor, "\(gone) were forgotten")
      try expect(try await stage.store.enrolments(at: stage.at(3601)).count == 1, "the last one went as well")
    },
    ConformanceCheck("removing a requestor removes its invitations") { stage in
      try await stage.invite(1)
      _ = try await stage.store.remove(.requestor(stage.requestor), audit: nil, at: stage.at(1))
      try expect(try await stage.store.enrolments(at: stage.at(1)).isEmpty, "stands")
    },
  ]
}

extension ConformanceFixture {
  fileprivate func invitation(_ number: Int) throws -> EnrolmentID { try Self.name("I\(number)") }

  func invite(_ number: Int, uses: Int = 1, second: Int = 0) async throws {
    try await store.invite(
      EnrolmentRecord(
        id: try invitation(number), requestor: requestor, secret: StoredSecret([7, 8, UInt8(number & 0xFF)]),
        uses: uses,
        created: at(second), expires: at(second + 3600)), audit: nil, at: at(second))
  }

  fileprivate func pair(_ number: Int) throws -> KeyPair {
    KeyPair(
      publicKey: try Self.name("box-pair-\(number)"), requestor: requestor, purpose: .calls,
      secret: StoredSecret([1, 2, UInt8(number)]), created: at(1))
  }

  func redeem(
    _ number: Int, box: String = "box-1", pair: Int = 1, second: Int
  ) async throws -> KeyPair {
    try await store.redeem(
      invitation(number), box: box, with: self.pair(pair), audit: nil, at: at(second))
  }
}
