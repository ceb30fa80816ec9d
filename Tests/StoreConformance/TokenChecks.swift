import PairingStore
import RegentPairing

extension StoreConformance {
  static let tokenChecks = [
    ConformanceCheck("the first read of a sign-in delivers it, and later reads return the same") { stage in
      let signedIn = try await stage.signedIn(1)
      let first = try await stage.pickUp(second: 3)
      try expect(first.signIn?.record == signedIn, "got \(first)")
      let delivery = try found(first.delivery, "delivery")
      try expect(delivery.record.flow.state.status == .delivered, "is not delivered")
      try expect(delivery.actions == [.wakePhone], "does \(delivery.actions)")
      let second = try await stage.pickUp(second: 4)
      try expect(second.signIn?.record == signedIn && second.delivery == nil, "differs")
    },
    ConformanceCheck("the hint that a delivery is expected does not change the answer") { stage in
      for (device, awaitsDelivery) in [(1, true), (2, false)] {
        func pickUp(second: Int) async throws -> PickUp {
          try await stage.pickUp(device: device, awaitsDelivery: awaitsDelivery, second: second)
        }
        let nothing = try await pickUp(second: 0)
        try expect(nothing == .none, "a stranger got \(nothing)")
        let signedIn = try await stage.signedIn(device, device: device)
        let first = try await pickUp(second: 3)
        try expect(
          first.signIn?.record == signedIn && first.delivery != nil, "the first read is \(first)")
        let later = try await pickUp(second: 4)
        try expect(
          later.signIn?.record == signedIn && later.delivery == nil, "a later read is \(later)")
      }
      try await stage.disable(stage.ann)
      for awaitsDelivery in [true, false] {
        try await expect(.notInForce(.accountDisabled)) {
          try await stage.pickUp(awaitsDelivery: awaitsDelivery, second: 5)
        }
      }
    },
    ConformanceCheck("a sign-in is returned with the current account, integration and provider") { stage in
      let id = try await stage.signedIn(1).authentication.id
      let ann = try stage.account(stage.ann)
      var zip = ann
      zip.attributes.zipCodes = ["12345"]
      let usual = Integration(requestor: stage.requestor, provider: stage.local)
      let closed = Integration(
        requestor: stage.requestor, provider: stage.local, degradation: .authorizeNobody)
      for (second, account, integration) in [(3, ann, usual), (4, zip, closed)] {
        if account != ann { try await stage.put(.account(account), replacing: .account(ann)) }
        if integration != usual {
          try await stage.put(.integration(integration), replacing: .integration(usual))
        }
        let signIn = try found(await stage.pickUp(second: second).signIn, "sign-in")
        try expect(signIn.account == account, "the account is \(String(describing: signIn.account))")
        try expect(signIn.integration == integration, "the integration is \(signIn.integration)")
        try expect(signIn.provider.id == stage.local, "the provider is \(signIn.provider)")
        let same = try await stage.store.standing(id, at: stage.at(second))
        try expect(same == signIn, "by its id it is \(String(describing: same))")
      }
    },
    ConformanceCheck("a sign-in is found by its id while it is valid, and that read is no delivery") {
      stage in
      let signedIn = try await stage.signedIn(1)
      let authentication = signedIn.authentication
      func look(_ now: Instant) async throws -> AuthenticationRecord? {
        let signIn = try await stage.store.standing(authentication.id, at: now)
        return signIn?.record
      }
      let early = try await look(stage.at(3))
      try expect(early == signedIn, "is \(String(describing: early))")
      let delivery = try await stage.pickUp(second: 3).delivery
      try expect(delivery != nil, "looking was the delivery")
      let late = try await look(authentication.expires)
      try expect(late == nil, "outlives its time")
      let nobody = try await stage.store.standing(ConformanceFixture.name("nobody"), at: stage.at(3))
      try expect(nobody == nil, "found \(String(describing: nobody))")
      try await stage.disable(stage.ann)
      try await expect(.notInForce(.accountDisabled)) { try await look(stage.at(4)) }
    },
    ConformanceCheck("a device without a sign-in gets nothing, and another requestor gets nothing either") {
      stage in
      try await stage.signedIn(1)
      let neighbour = try await stage.pickUp(device: 2, second: 3)
      try expect(neighbour == .none, "a neighbour got \(neighbour)")
      let elsewhere = try await stage.store.pickUp(
        requestor: ConformanceFixture.name("other"), device: stage.hash(1001),
        awaitsDelivery: false, at: stage.at(3))
      try expect(elsewhere == .none, "another requestor got \(elsewhere)")
    },
    ConformanceCheck("an account that was disabled after the approval gets no token") { stage in
      let signedIn = try await stage.signedIn(1)
      try await stage.disable(stage.ann)
      try await expect(.notInForce(.accountDisabled)) { try await stage.pickUp(second: 3) }
      let id = try found(signedIn.registration, "registration")
      let kept = try await stage.store.registration(id, at: stage.at(3))
      try expect(kept?.flow.state.status == .approved, "the refused read was a delivery")
      try await stage.put(
        .account(stage.account(stage.ann)),
        replacing: .account(stage.account(stage.ann, isDisabled: true)))
      let again = try await stage.pickUp(second: 4)
      try expect(again.delivery != nil, "enabled again, it gets \(again)")
    },
    ConformanceCheck("a switched-off integration gives no token, and gives it again once it is on") {
      stage in
      try await stage.signedIn(1)
      let on = Integration(requestor: stage.requestor, provider: stage.local)
      var off = on
      off.enabled = false
      try await stage.put(.integration(off), replacing: .integration(on))
      try await expect(.notInForce(.switchedOff)) { try await stage.pickUp(second: 3) }
      try await stage.put(.integration(on), replacing: .integration(off))
      let again = try await stage.pickUp(second: 4)
      try expect(again.signIn != nil, "gives nothing")
    },
    ConformanceCheck("an expired sign-in is reported as expired until it is forgotten") {
      stage in
      let signedIn = try await stage.signedIn(1)
      let expires = signedIn.authentication.expires
      func pickUp(at now: Instant) async throws -> PickUp {
        try await stage.store.pickUp(
          requestor: stage.requestor, device: stage.hash(1001), awaitsDelivery: false, at: now)
      }
      let last = try await pickUp(at: expires - .milliseconds(1))
      try expect(last.signIn?.record == signedIn, "ends early: \(last)")
      let late = try await pickUp(at: expires)
      try expect(late == .expired(signedIn), "is \(late)")
      // Once it is forgotten, the device has no sign-in.
      let forgotten = expires + .seconds(3600)
      while try await stage.store.forgetExpired(at: forgotten, limit: 100) > 0 {}
      let gone = try await pickUp(at: forgotten)
      try expect(gone == .none, "is \(gone)")
    },
    ConformanceCheck("only the key pair that owns a sign-in can read, deliver or end it") { stage in
      let signedIn = try await stage.signedIn(1, owner: "pair-a")
      let ofEarlierVersion = try await stage.signedIn(2, device: 2)
      let (owner, other): (SignInOwner, SignInOwner) = (
        SignInOwner(try ConformanceFixture.name("pair-a"), among: [:]),
        SignInOwner(try ConformanceFixture.name("pair-b"), among: [:])
      )
      func pickUp(_ device: Int, _ owner: SignInOwner, _ awaitsDelivery: Bool) async throws -> PickUp {
        try await stage.store.pickUp(
          requestor: stage.requestor, device: stage.hash(1000 + device), of: owner, awaitsDelivery: awaitsDelivery,
          at: stage.at(3))
      }
      func signOut(_ owner: SignInOwner) async throws -> [AuthenticationRecord] {
        try await stage.store.signOut(
          requestor: stage.requestor, device: stage.hash(1001), of: owner, at: stage.at(4))
      }
      for awaitsDelivery in [true, false] {
        let foreign = try await pickUp(1, other, awaitsDelivery)
        try expect(foreign == .ofAnother(.regular), "another pair got \(foreign)")
      }
      try expect(try await signOut(other).isEmpty, "another pair ended it")
      let first = try await pickUp(1, owner, false)
      try expect(first.signIn?.record == signedIn && first.delivery != nil, "its owner got \(first)")
      let earlier = try await pickUp(2, other, false)
      try expect(earlier.signIn?.record == ofEarlierVersion, "a row without an owner is \(earlier)")
      try expect(try await signOut(owner) == [signedIn], "its owner did not end it")
    },
    ConformanceCheck("two owners with one device id have a code and a sign-in each") { stage in
      let codes = try ["pair-a", "pair-b"].enumerated().map { try stage.registration($0 + 1, owner: $1) }
      for code in codes {
        let reservation = try await stage.store.reserve(code, within: LiveCodeLimits(9), at: stage.at(0))
        try expect(reservation.withdrawn.isEmpty, "withdrew \(reservation.withdrawn)")
        let again = try await stage.store.reserve(code, within: LiveCodeLimits(9), at: stage.at(0))
        try expect(again.record == reservation.record, "a repeated request stored \(again.record)")
      }
      var signIns: [AuthenticationRecord] = []
      for (number, code) in codes.enumerated() {
        let session = try await stage.session(number, as: stage.ann)
        _ = try await stage.store.claim(code.id, by: session, at: stage.at(1))
        let result = try await stage.store.approve(
          code.id, try stage.yes(session, as: number), audit: nil, at: stage.at(2))
        signIns.append(try found(result.authentication, "authentication"))
      }
      for (name, signIn) in zip(["pair-a", "pair-b"], signIns) {
        let owner = SignInOwner(try ConformanceFixture.name(name), among: [:])
        for awaitsDelivery in [true, false] {
          let got = try await stage.store.pickUp(
            requestor: stage.requestor, device: stage.hash(1001), of: owner, awaitsDelivery: awaitsDelivery,
            at: stage.at(3))
          try expect(got.signIn?.record == signIn, "\(name) got \(got)")
        }
        let ended = try await stage.store.signOut(
          requestor: stage.requestor, device: stage.hash(1001), of: owner, at: stage.at(4))
        try expect(ended == [signIn], "\(name) ended \(ended)")
      }
    },
    ConformanceCheck("the sign-in of a revoked key pair gives way to another owner's") { stage in
      let pair: PublicKey = try ConformanceFixture.name("pair-a")
      try await stage.store.add(
        KeyPair(
          publicKey: pair, requestor: stage.requestor, purpose: .calls, secret: StoredSecret([1]),
          created: stage.at(0)), audit: nil, at: stage.at(0))
      let first = try await stage.signedIn(1, owner: "pair-a")
      _ = try await stage.store.setState(of: pair, to: .revoked, audit: nil, at: stage.at(3))
      let second = try await stage.signedIn(2, owner: "pair-b")
      try expect(second.deviceHash == first.deviceHash, "the second is stored apart")
      try expect(try await stage.allAuthentications() == [second], "the first is left")
    },
    ConformanceCheck("signing out ends the device's sign-in and no other") {
      stage in
      let mine = try await stage.signedIn(1)
      let theirs = try await stage.signedIn(2, device: 2)
      let ended = try await stage.store.signOut(
        requestor: stage.requestor, device: stage.hash(1001), at: stage.at(3))
      try expect(ended == [mine], "ended \(ended)")
      let again = try await stage.store.signOut(
        requestor: stage.requestor, device: stage.hash(1001), at: stage.at(3))
      try expect(again.isEmpty, "ended \(again) again")
      let all = try await stage.allAuthentications()
      try expect(all == [theirs], "left \(all)")
    },
    ConformanceCheck("revoking by a filter ends exactly the sign-ins that it matches") { stage in
      try await stage.signedIn(1)
      let theirs = try await stage.signedIn(2, device: 2)
      var filter = AuthenticationFilter(requestor: stage.requestor, viewer: stage.ann)
      filter.device = try stage.hash(1001)
      let ended = try await stage.store.revoke(filter, audit: nil, at: stage.at(3))
      try expect(ended.map(\.authentication.id.text) == ["authentication-1"], "ended \(ended)")
      let all = try await stage.allAuthentications()
      try expect(all == [theirs], "left \(all)")
    },
    ConformanceCheck("a sign-out or a name that is sent twice writes one audit entry") { stage in
      try await stage.signedIn(1)
      func entry(_ second: Int) -> AuditEntry {
        AuditEntry(at: stage.at(second), actor: .service, action: "twice", subject: "screen")
      }
      let screen = try stage.hash(9) as ScreenHash
      let filter = AuthenticationFilter(requestor: stage.requestor, viewer: stage.ann)
      for second in 3...4 {
        try await stage.store.name(screen, "Attic", audit: entry(second), at: stage.at(second))
        _ = try await stage.store.revoke(filter, audit: entry(second), at: stage.at(second))
      }
      let entries = try await stage.store.audit(after: 0, limit: 99).map(\.entry).filter { $0.action == "twice" }
      try expect(entries == [entry(3), entry(3)], "\(entries)")
    },
    ConformanceCheck("a permit that is still valid is not written again, however long its resource is") { stage in
      let authentication = try await stage.signedIn(1).authentication
      // A text that does not compress, with characters that are special in SQL and in patterns.
      let long = (0..<700).map { String(UInt64($0 + 1) &* 0x9E37_79B9_7F4A_7C15, radix: 36) }.joined().prefix(8_000)
      for text in ["ESPN", "\\x00\\ü'?\"\n$1 \(long)"] {
        let resource = try ConformanceFixture.name(text) as ResourceID
        func permit(_ second: Int) -> Permit {
          Permit(resource, for: authentication, lifetime: .seconds(100), at: stage.at(second))
        }
        let first = try await stage.store.record(permit(10), at: stage.at(10))
        try expect(first == permit(10), "kept \(first)")
        let second = try await stage.store.record(permit(50), at: stage.at(50))
        try expect(second == first, "wrote \(second)")
        let third = try await stage.store.record(permit(105), at: stage.at(105))
        try expect(third == permit(105), "kept the one that ends")
        let found = try await stage.store.permit(authentication.id, resource, at: stage.at(106))
        try expect(found == .inForce(third), "found \(found)")
        let late = try await stage.store.permit(authentication.id, resource, at: stage.at(205))
        try expect(late == .expired, "an expired permit is \(late)")
        let other = try await stage.store.permit(
          authentication.id, ConformanceFixture.name(text.dropLast() + "!"), at: stage.at(205))
        try expect(other == .none, "what was never permitted is \(other)")
      }
    },
    ConformanceCheck("at the limit of a sign-in's permits the oldest goes, and no other sign-in's") { stage in
      let mine = try await stage.signedIn(1).authentication
      let theirs = try await stage.signedIn(2, device: 2).authentication
      func open(_ title: String, _ whose: Authentication, _ second: Int) async throws {
        let permit = Permit(
          try ConformanceFixture.name(title), for: whose, lifetime: .seconds(1000), at: stage.at(second))
        let kept = try await stage.store.record(permit, keeping: 3, at: stage.at(second))
        try expect(kept == permit, "kept \(kept)")
      }
      func left(_ whose: Authentication, _ second: Int) async throws -> [String] {
        var left: [String] = []
        for title in ["A", "B", "C", "D", "E", "F", "G"] {
          let found = try await stage.store.permit(
            whose.id, ConformanceFixture.name(title), at: stage.at(second))
          if found != .none { left.append(title) }
        }
        return left
      }
      try await open("A", theirs, 5)
      for (number, title) in ["A", "B", "C"].enumerated() { try await open(title, mine, 10 + number) }
      let whole = try await left(mine, 20)
      try expect(whole == ["A", "B", "C"], "as many as there is room for: \(whole)")
      // A renewed permit is no longer the oldest, and renewing needs no place.
      try await open("A", mine, 1005)
      try await open("D", mine, 1006)
      let newer = try await left(mine, 1007)
      try expect(newer == ["A", "C", "D"], "the oldest went: \(newer)")
      // The clock was ahead and was corrected: permits with a time in the future go first.
      for (number, title) in ["E", "F"].enumerated() { try await open(title, mine, 2000 + number) }
      for (number, title) in ["B", "G"].enumerated() { try await open(title, mine, 1100 + number) }
      let right = try await left(mine, 1103)
      try expect(right == ["B", "D", "G"], "those of a time that has not come went: \(right)")
      let guest = try await stage.store.signInWithoutCode(
        stage.guest(4, at: stage.pass, device: 4), at: stage.at(0))
      for (number, title) in ["A", "B", "C", "D"].enumerated() {
        _ = try await stage.store.openTemporarily(
          guest.authentication.id, ConformanceFixture.name(title), keeping: 3, at: stage.at(10 + number))
      }
      let guests = try await left(guest.authentication, 20)
      try expect(guests == ["B", "C", "D"], "of a pass: \(guests)")
      let others = try await left(theirs, 20)
      try expect(others == ["A"], "another sign-in's: \(others)")
    },
    ConformanceCheck("a resource that looks like the stored hash of another is a resource of its own") { stage in
      let authentication = try await stage.signedIn(1).authentication
      let long = String(repeating: "x", count: 2_000)
      // "sha256:" and the hash of `long`, as the store may write it.
      let name = "sha256:5c0e0ea421571c300b5df6aec0a118b5c3dc02e0683a546341d5efc689df2f58"
      for text in [long, name, "sha256:"] {
        let resource = try ConformanceFixture.name(text) as ResourceID
        let before = try await stage.store.permit(authentication.id, resource, at: stage.at(3))
        try expect(before == .none, "\(text.prefix(20)) is \(before)")
        let permit = Permit(resource, for: authentication, lifetime: .seconds(100), at: stage.at(3))
        let kept = try await stage.store.record(permit, at: stage.at(3))
        let found = try await stage.store.permit(authentication.id, resource, at: stage.at(4))
        try expect(kept == permit && found == .inForce(permit), "\(text.prefix(20)): \(kept), \(found)")
      }
    },
    ConformanceCheck("a permit needs a valid sign-in and ends with it") { stage in
      let authentication = try await stage.signedIn(1).authentication
      let resource = try ConformanceFixture.name("ESPN") as ResourceID
      let endless = Permit(
        authentication: authentication.id, resource: resource, issued: stage.at(3),
        expires: authentication.expires + .seconds(10))
      let kept = try await stage.store.record(endless, at: stage.at(3))
      try expect(kept.expires == authentication.expires, "outlives its authentication")
      try await expect(.notInForce(.expired)) {
        try await stage.store.record(endless, at: authentication.expires)
      }
      _ = try await stage.store.signOut(
        requestor: stage.requestor, device: stage.hash(1001), at: stage.at(4))
      let left = try await stage.store.permit(authentication.id, resource, at: stage.at(5))
      try expect(left == .none, "is there after signing out")
      try await expect(.notFound(what: "authentication")) {
        try await stage.store.record(endless, at: stage.at(5))
      }
    },
    ConformanceCheck("the visitor id of a sign-in can change, and nothing else of it") { stage in
      let record = try await stage.signedIn(1)
      let id = record.authentication.id
      for (visitor, isNew) in [("v-1", true), ("v-1", false), ("v-2", true)] {
        let isChanged = try await stage.store.setVisitorID(visitor, of: id, at: stage.at(3))
        try expect(isChanged == isNew, "\(visitor) was taken for \(isChanged ? "new" : "the stored one")")
      }
      let all = try await stage.allAuthentications()
      try expect(all == [record.reporting(visitorID: "v-2")], "are \(all)")
      let other: AuthenticationID = try ConformanceFixture.name("other")
      let isOther = try await stage.store.setVisitorID("v-3", of: other, at: stage.at(3))
      try expect(!isOther, "changed a sign-in that does not exist")
    },
    ConformanceCheck("a screen keeps the name that was set, until it is removed") { stage in
      try await stage.store.name(stage.hash(1), "Kitchen", audit: nil, at: stage.at(1))
      try await stage.store.name(stage.hash(2), "Hall", audit: nil, at: stage.at(1))
      try await stage.store.name(stage.hash(2), nil, audit: nil, at: stage.at(2))
      try await stage.store.name(stage.hash(3), "Attic", audit: nil, at: stage.at(2))
      let asked: Set<ScreenHash> = try [stage.hash(1), stage.hash(2)]
      let names = try await stage.store.names(of: asked)
      try expect(try names == [stage.hash(1): "Kitchen"], "are \(names.values)")
      let none = try await stage.store.names(of: [])
      try expect(none.isEmpty, "of no screens are \(none.values)")
    },
  ]
}
