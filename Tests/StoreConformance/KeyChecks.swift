import PairingStore
import RegentPairing

extension StoreConformance {
  static let keyChecks = [
    ConformanceCheck("key material is random for each purpose and never changes") { stage in
      var seen: Set<StoredSecret> = []
      for purpose in KeyPurpose.allCases {
        let first = try await stage.store.keyMaterial(for: purpose)
        let second = try await stage.store.keyMaterial(for: purpose)
        try expect(first == second && first.bytes.count == 32, "\(purpose) changes")
        seen.insert(first)
      }
      try expect(seen.count == KeyPurpose.allCases.count, "two purposes share their material")
    },
    ConformanceCheck("concurrent requests for key material get the same bytes") { stage in
      let results = try await stage.together(16) { _ in
        try await stage.store.keyMaterial(for: .codes)
      }
      try expect(Set(results.successes()).count == 1, "there are several")
    },
    ConformanceCheck("a key pair is stored, and its state only moves from active to retired to revoked") { stage in
      let pair = KeyPair(
        publicKey: try ConformanceFixture.name("calls-1"), requestor: stage.requestor, purpose: .calls,
        secret: StoredSecret(Array("hush".utf8)), created: stage.at(5))
      try await stage.store.add(pair, audit: nil, at: stage.at(5))
      try await stage.store.add(pair, audit: nil, at: stage.at(5))
      let kept = try await stage.store.provisioning().keyPairs[pair.publicKey]
      try expect(kept == pair && kept?.secret == pair.secret, "is \(String(describing: kept))")
      try await stage.store.setState(
        of: pair.publicKey, to: .retired, audit: nil, at: stage.at(6))
      try await stage.store.setState(
        of: pair.publicKey, to: .revoked, audit: nil, at: stage.at(7))
      try await expect(.changedMeanwhile(what: "key pair")) {
        try await stage.store.setState(
          of: pair.publicKey, to: .retired, audit: nil, at: stage.at(8))
      }
      let state = try await stage.store.provisioning().keyPairs[pair.publicKey]?.state
      try expect(state == .revoked, "is \(String(describing: state))")
      try await expect(.notFound(what: "key pair")) {
        try await stage.store.setState(
          of: ConformanceFixture.name("unknown"), to: .revoked, audit: nil, at: stage.at(8))
      }
    },
    ConformanceCheck("revoking a call key signs out no device") { stage in
      try await stage.signedIn(1)
      let pair = KeyPair(
        publicKey: try ConformanceFixture.name("calls-1"), requestor: stage.requestor, purpose: .calls,
        secret: StoredSecret([1]), created: stage.at(0))
      try await stage.store.add(pair, audit: nil, at: stage.at(3))
      try await stage.store.setState(
        of: pair.publicKey, to: .revoked, audit: nil, at: stage.at(4))
      let pickUp = try await stage.pickUp(second: 5).signIn
      try expect(pickUp != nil, "the device was signed out")
    },
    ConformanceCheck("rows of a retired row key stay valid, and rows of a revoked one do not") { stage in
      try await stage.signedIn(1)
      let next = KeyPair(
        publicKey: try ConformanceFixture.name("rows-2"), requestor: stage.requestor, purpose: .rows,
        secret: StoredSecret([9]), created: stage.at(10))
      try await stage.store.add(next, audit: nil, at: stage.at(10))
      let keys = try await stage.store.provisioning()
      try expect(keys.keyPairs[stage.rowKey]?.state == .retired, "the earlier pair is not retired")
      try expect(keys.rowKey(of: stage.requestor) == next, "new rows are signed with another")
      let still = try await stage.pickUp(second: 11).signIn
      try expect(still != nil, "rotation signed the device out")
      try await stage.store.setState(
        of: stage.rowKey, to: .revoked, audit: nil, at: stage.at(12))
      let gone = try await stage.pickUp(second: 13).signIn
      let left = try await stage.allAuthentications()
      try expect(gone == nil && left.isEmpty, "revoked rows still count")
    },
    ConformanceCheck("signing keys are stored, and retiring one twice keeps the first times") { stage in
      func key(_ number: Int) throws -> SigningKeyRecord {
        SigningKeyRecord(
          id: try ConformanceFixture.name("key-\(number)"), privateKey: StoredSecret([UInt8(number)]),
          publicKey: #"{"kty":"RSA"}"#, created: stage.at(number), signsFrom: stage.at(number + 300)
        )
      }
      try await stage.store.add(key(2), audit: nil, at: stage.at(2))
      try await stage.store.add(key(1), audit: nil, at: stage.at(2))
      let keys = try await stage.store.signingKeys()
      try expect(try keys == [key(1), key(2)], "are \(keys.map(\.id))")
      try await stage.store.retireSigningKey(
        key(1).id, neededUntil: stage.at(500), audit: nil, at: stage.at(400))
      try await stage.store.retireSigningKey(
        key(1).id, neededUntil: stage.at(401), audit: nil, at: stage.at(401))
      let first = try await stage.store.signingKeys().first
      try expect(first?.retired == stage.at(400), "retired \(String(describing: first?.retired))")
      try expect(first?.neededUntil == stage.at(500), "is unpublished early")
      try await expect(.notFound(what: "signing key")) {
        try await stage.store.retireSigningKey(
          ConformanceFixture.name("unknown"), neededUntil: stage.at(9), audit: nil, at: stage.at(9))
      }
    },
  ]
}
