import RegentPairing

extension StoreConformance {
  static let tokenChecks = [
    ConformanceCheck("the first read delivers, later reads repeat, and write nothing") { stage in
      let signedIn = try await stage.signedIn(1)
      let first = try found(await stage.pickUp(second: 3), "pick-up")
      try expect(first.record == signedIn, "got \(first.record)")
      let delivery = try found(first.delivery, "delivery")
      try expect(delivery.record.flow.state.status == .delivered, "is not delivered")
      try expect(delivery.actions == [.wakePhone], "does \(delivery.actions)")
      let second = try found(await stage.pickUp(second: 4), "second pick-up")
      try expect(second.record == signedIn && second.delivery == nil, "differs")
    },
    ConformanceCheck("a device that is not signed in gets nothing, and neither does a neighbour") {
      stage in
      try await stage.signedIn(1)
      let neighbour = try await stage.pickUp(device: 2, second: 3)
      try expect(neighbour == nil, "a neighbour got \(String(describing: neighbour))")
      let elsewhere = try await stage.store.pickUp(
        requestor: ConformanceFixture.name("other"), device: stage.hash(1001), at: stage.at(3))
      try expect(elsewhere == nil, "another requestor got \(String(describing: elsewhere))")
    },
    ConformanceCheck("an account disabled between approval and pick-up gets no token") { stage in
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
      try expect(again?.delivery != nil, "enabled again, it gets \(String(describing: again))")
    },
    ConformanceCheck("an integration that is off gives no token, and gives it again when it is on") {
      stage in
      try await stage.signedIn(1)
      let on = Integration(requestor: stage.requestor, provider: stage.local)
      var off = on
      off.enabled = false
      try await stage.put(.integration(off), replacing: .integration(on))
      try await expect(.notInForce(.notIntegrated)) { try await stage.pickUp(second: 3) }
      try await stage.put(.integration(on), replacing: .integration(off))
      let again = try await stage.pickUp(second: 4)
      try expect(again != nil, "gives nothing")
    },
    ConformanceCheck("an expired authentication is said to be expired") { stage in
      let expires = try await stage.signedIn(1).authentication.expires
      let last = try await stage.store.pickUp(
        requestor: stage.requestor, device: stage.hash(1001), at: expires - .milliseconds(1))
      try expect(last != nil, "ends early")
      try await expect(.notInForce(.expired)) {
        try await stage.store.pickUp(
          requestor: stage.requestor, device: stage.hash(1001), at: expires)
      }
    },
    ConformanceCheck("signing out ends what the device has at this requestor, and no other") {
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
    ConformanceCheck("a filter ends what it names") { stage in
      try await stage.signedIn(1)
      let theirs = try await stage.signedIn(2, device: 2)
      var filter = AuthenticationFilter(requestor: stage.requestor, viewer: stage.ann)
      filter.device = try stage.hash(1001)
      let ended = try await stage.store.revoke(filter, audit: nil, at: stage.at(3))
      try expect(ended.map(\.authentication.id.text) == ["authentication-1"], "ended \(ended)")
      let all = try await stage.allAuthentications()
      try expect(all == [theirs], "left \(all)")
    },
    ConformanceCheck("a permit that is as good is not written again") { stage in
      let authentication = try await stage.signedIn(1).authentication
      let resource = try ConformanceFixture.name("ESPN") as ResourceID
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
      try expect(found == third, "found \(String(describing: found))")
      let late = try await stage.store.permit(authentication.id, resource, at: stage.at(205))
      try expect(late == nil, "an expired permit counts")
    },
    ConformanceCheck("a permit needs its authentication and ends with it") { stage in
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
      try expect(left == nil, "is there after signing out")
      try await expect(.notFound(what: "authentication")) {
        try await stage.store.record(endless, at: stage.at(5))
      }
    },
    ConformanceCheck("a screen keeps the name that it was given") { stage in
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
