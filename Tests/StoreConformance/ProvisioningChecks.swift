import PairingStore
import RegentPairing

extension StoreConformance {
  static let provisioningChecks = [
    ConformanceCheck("records are returned with all their fields") { stage in
      var requestor = Requestor(id: try ConformanceFixture.name("OTHER"), name: "Other ☃")
      requestor.domains = ["example.com", "tv.test"]
      requestor.redirectURIs = ["app://back"]
      requestor.logo = "https://example.com/l.png"
      requestor.color = "#aabbcc"
      requestor.certificate = "-----BEGIN CERTIFICATE-----\n…"
      requestor.signaturePolicy = .strict
      requestor.enhancedErrors = true
      requestor.numberMatching = true
      requestor.exposesDeviceID = true
      requestor.metadataKeys = [.zip, .usedAssets]
      let provider = Provider(
        id: try ConformanceFixture.name("trial"), name: "Trial",
        kind: .temporary(
          TemporaryPassRules(duration: .milliseconds(1500), resourceLimit: 3, promotional: true)),
        logo: "https://x.test/", featured: true, boarding: .supported, platformID: "p",
        secureSheet: true)
      let integration = Integration(
        requestor: requestor.id, provider: provider.id, enabled: false, singleSignOn: true,
        settings: IntegrationSettings(
          authenticationLifetime: .seconds(1), authorizationLifetime: .seconds(2),
          preauthorizationLimit: 3),
        profiles: [try ConformanceFixture.name("tv"): IntegrationProfile(authorizationLifetime: .seconds(9))],
        degradation: .authorizeNobody)
      let household = try ConformanceFixture.name("home") as HouseholdID
      let account = Account(
        provider: stage.local, name: try ConformanceFixture.name("eve@example.com"), household: household,
        attributes: AccountAttributes(
          zipCodes: ["12345"],
          maximumRatings: [ParentalRating(scheme: .mpaa, value: "PG")], channels: ["ESPN", "é"]))
      let rule = Entitlement(
        id: try ConformanceFixture.name("rule"), provider: stage.local, scope: .household(household),
        pattern: try found(ResourcePattern(#"ppv-\**"#), "pattern"),
        effect: .deny(message: "Not in your package"))
      let application = ApplicationRecord(
        id: try ConformanceFixture.name("statement"), requestor: requestor.id, name: "App", issued: stage.at(7))
      for record in [
        Provision.requestor(requestor), .provider(provider), .integration(integration),
        .account(account), .entitlement(rule), .application(application),
      ] {
        try await stage.put(record)
      }
      let all = try await stage.store.provisioning()
      try expect(all.requestors[requestor.id] == requestor, "requestor differs")
      try expect(all.providers[provider.id] == provider, "provider differs")
      try expect(all.integrations[requestor.id]?[provider.id] == integration, "integration differs")
      try expect(all.entitlements[stage.local] == [rule], "rule differs")
      try expect(all.applications[application.id] == application, "application differs")
      let kept = try await stage.store.account(stage.local, account.name)
      try expect(kept == account, "account differs: \(String(describing: kept))")
    },
    ConformanceCheck("a record is changed only by a caller that has seen its current state") { stage in
      let seen = Requestor(id: stage.requestor, name: "Reference")
      var mine = seen
      mine.name = "Mine"
      var theirs = seen
      theirs.name = "Theirs"
      try await stage.put(.requestor(mine), replacing: .requestor(seen))
      try await expect(.changedMeanwhile(what: "requestor")) {
        try await stage.put(.requestor(theirs), replacing: .requestor(seen))
      }
      try await expect(.changedMeanwhile(what: "requestor")) {
        try await stage.put(.requestor(theirs))
      }
      let kept = try await stage.store.provisioning().requestors[stage.requestor]
      try expect(kept == mine, "is \(String(describing: kept))")
    },
    ConformanceCheck("a record may refer only to records that exist") { stage in
      let nobody = try ConformanceFixture.name("nobody") as RequestorID
      let nowhere = try ConformanceFixture.name("nowhere") as ProviderID
      try await expect(.notFound(what: "requestor")) {
        try await stage.put(.integration(Integration(requestor: nobody, provider: stage.local)))
      }
      try await expect(.notFound(what: "provider")) {
        try await stage.put(
          .integration(Integration(requestor: stage.requestor, provider: nowhere)))
      }
      try await expect(.notFound(what: "provider")) {
        try await stage.put(.account(Account(provider: nowhere, name: ConformanceFixture.name("x"))))
      }
    },
    ConformanceCheck("accounts are listed by name, page by page") { stage in
      for name in ["zoe", "dan", "cat"] {
        try await stage.put(.account(Account(provider: stage.local, name: ConformanceFixture.name(name))))
      }
      let first = try await stage.store.accounts(stage.local, after: nil, limit: 3)
      let rest = try await stage.store.accounts(stage.local, after: first.last?.name, limit: 9)
      let names = (first + rest).map(\.name.text)
      try expect(names == ["ann", "bob", "cat", "dan", "zoe"], "are \(names)")
    },
    ConformanceCheck("removing a requestor removes everything that depends on it") { stage in
      try await stage.signedIn(1)
      let pending = try stage.registration(2, device: 2)
      try await stage.reserve(pending)
      let application = ApplicationRecord(
        id: try ConformanceFixture.name("app"), requestor: stage.requestor, name: "App", issued: stage.at(0))
      try await stage.put(.application(application))
      let client = ClientRecord(
        id: try ConformanceFixture.name("client"), secret: try stage.hash(1), application: application.id,
        requestor: stage.requestor, redirectURIs: ["app://x"], issued: stage.at(1))
      try await stage.store.register(client, at: stage.at(1))
      let registered = try await stage.store.client(client.id)
      try expect(registered == client, "is \(String(describing: registered))")
      _ = try await stage.store.remove(.requestor(stage.requestor), audit: nil, at: stage.at(3))
      let all = try await stage.store.provisioning()
      try expect(all.requestors.isEmpty && all.keyPairs.isEmpty, "left keys")
      try expect(all.applications.isEmpty, "left applications")
      try expect((all.integrations[stage.requestor] ?? [:]).isEmpty, "left integrations")
      let left = try await stage.allAuthentications()
      let code = try await stage.store.registration(pending.id, at: stage.at(4))
      let gone = try await stage.store.client(client.id)
      try expect(left.isEmpty && code == nil && gone == nil, "left sign-ins, codes or clients")
      try await expect(.notFound(what: "requestor")) {
        try await stage.store.remove(.requestor(stage.requestor), audit: nil, at: stage.at(5))
      }
    },
    ConformanceCheck("removing a provider or an account ends everything that depends on it") { stage in
      try await stage.signedIn(1)
      let name = try found(stage.ann.account, "account")
      let claim = try await stage.claimed(2, device: 2)
      let changes = try await stage.store.remove(
        .account(stage.local, name), audit: nil, at: stage.at(3))
      try expect(changes.map(\.record.id) == [claim.record.id], "gave back \(changes)")
      let left = try await stage.allAuthentications()
      try expect(left.isEmpty, "left \(left)")
      _ = try await stage.store.remove(.provider(stage.local), audit: nil, at: stage.at(4))
      let accounts = try await stage.store.accounts(stage.local, after: nil, limit: 9)
      let all = try await stage.store.provisioning()
      try expect(accounts.isEmpty, "left accounts")
      try expect(all.integrations[stage.requestor]?[stage.local] == nil, "left the integration")
    },
    ConformanceCheck("removing an integration ends what depends on it for good, and nothing else") { stage in
      let (client, signIn) = try await stage.readyToGive()
      let grant = try await stage.store.keep(stage.grant(1, client, signIn), at: stage.at(3))
      _ = try await stage.store.record(
        Permit(
          authentication: signIn.authentication.id, resource: ConformanceFixture.name("news"), issued: stage.at(3),
          expires: stage.at(50)), at: stage.at(3))
      let beside = try await stage.besides("OTHER")
      try await beside.put(.integration(Integration(requestor: beside.requestor, provider: stage.local)))
      let other = try await beside.signedIn(2, device: 2)
      let before = stage.store.standingMark
      _ = try await stage.store.remove(.integration(stage.requestor, stage.local), audit: nil, at: stage.at(4))
      try expect(before == nil || stage.store.standingMark != before, "the end went unnoticed")
      try await stage.put(.integration(Integration(requestor: stage.requestor, provider: stage.local)))
      let left = try await stage.allAuthentications()
      try expect(left == [other], "left \(left.count) sign-ins")
      try expect(try await stage.store.grant(grant.id, at: stage.at(5)) == nil, "the grant counts again")
      let grants = try await stage.store.grants(GrantFilter(), after: nil, limit: 9, at: stage.at(5))
      try expect(grants.isEmpty, "left the grant")
      let permit = try await stage.store.permit(
        signIn.authentication.id, ConformanceFixture.name("news"), at: stage.at(5))
      try expect(permit == .none, "left the permit")
    },
    ConformanceCheck("removing an application signs out the devices of its clients") { stage in
      let application = ApplicationRecord(
        id: try ConformanceFixture.name("app"), requestor: stage.requestor, name: "App", issued: stage.at(0))
      try await stage.put(.application(application))
      let client = OAuthClientRecord(
        id: try ConformanceFixture.name("client-1"), requestor: stage.requestor, origin: .statement,
        application: application.id, name: "One", metadata: "{}", created: stage.at(1))
      try await stage.put(client)
      let signIn = try await stage.signedIn(1)
      _ = try await stage.store.keep(stage.grant(1, client, signIn), at: stage.at(3))
      let other = try await stage.signedIn(2, device: 2)
      _ = try await stage.store.remove(.application(application.id), audit: nil, at: stage.at(4))
      let left = try await stage.allAuthentications()
      try expect(left == [other], "left \(left.count) sign-ins")
      let grants = try await stage.store.grants(GrantFilter(), after: nil, limit: 9, at: stage.at(5))
      try expect(grants.isEmpty, "left the grant")
    },
    ConformanceCheck("the clients of a revoked application are ignored") { stage in
      var application = ApplicationRecord(
        id: try ConformanceFixture.name("app"), requestor: stage.requestor, name: "App", issued: stage.at(0))
      let before = application
      try await stage.put(.application(application))
      let client = ClientRecord(
        id: try ConformanceFixture.name("client"), secret: try stage.hash(1), application: application.id,
        requestor: stage.requestor, issued: stage.at(1))
      try await stage.store.register(client, at: stage.at(1))
      application.isRevoked = true
      try await stage.put(.application(application), replacing: .application(before))
      let gone = try await stage.store.client(client.id)
      try expect(gone == nil, "still counts")
      try await expect(.notFound(what: "application")) {
        try await stage.store.register(client, at: stage.at(2))
      }
    },
  ]
}
