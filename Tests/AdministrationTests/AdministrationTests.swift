import RegentJSON
import RegentPairing
import Testing

@testable import Administration

@Suite struct `Admin interface documents` {
  @Test func `every admin document reads back as it was written`() throws {
    try reread(Samples.requestor)
    try reread(Samples.provider)
    try reread(Samples.pass)
    try reread(Samples.integration)
    try reread(Samples.account)
    try reread(Samples.rule)
    try reread(Samples.code)
    try reread(Samples.signIn)
    try reread(Samples.stats)
    try reread(Finding("database", .bad, "it is damaged", fix: "regentctl restore FILE"))
    try reread(
      AdminError(
        .different, "no", hint: "look",
        differences: [Difference(member: "name", stored: "A", wanted: nil)]))
  }

  @Test(arguments: [-1, 1_000_000_000_000_001, .max] as [Int64])
  func `admin documents with negative or too large numbers are refused`(number: Int64) {
    #expect(throws: JSONShapeError.self) {
      try Stats(["since": 0, "approved": .integer(number)])
    }
    #expect(throws: JSONShapeError.self) {
      try HourCount(["start": 0, "started": .integer(number)])
    }
  }

  @Test func `missing members of an admin document get their defaults`() throws {
    let requestor = try Requestor(["id": "acme"])
    #expect(requestor == Requestor(id: try #require(RequestorID("acme")), name: "acme"))
    let integration = try Integration(["requestor": "acme", "provider": "cable"])
    #expect(integration.enabled)
    #expect(integration.settings == IntegrationSettings())
    let pass = try Provider(["id": "free", "kind": "temporary"])
    #expect(pass.temporaryPass == TemporaryPassRules(duration: .seconds(600)))
  }

  @Test(
    arguments: [
      (["id": "a b"], "id"), (["id": "acme", "name": ""], "name"),
      (["id": "acme", "name": "a\u{202e}b"], "name"),
      (["id": "acme", "domains": ["https://tv.example.org"]], "domains"),
      (["id": "acme", "domains": ["0x7f.1"]], "domains"),
      (["id": "acme", "redirectUris": ["javascript://x"]], "redirectUris"),
      (["id": "acme", "redirectUris": ["https://a@b/"]], "redirectUris"),
      (["id": "acme", "logo": "ftp://x/"], "logo"), (["id": "acme", "color": "red"], "color"),
      (["id": "acme", "certificate": "-----BEGIN PRIVATE KEY-----"], "certificate"),
      (["id": "acme", "signaturePolicy": "lax"], "signaturePolicy"),
      (["id": "acme", "enhancedErrors": "on"], "enhancedErrors"),
      (["id": "acme", "metadata": ["password"]], "metadata"),
    ] as [(JSONObject, String)])
  func `a requestor with a harmful or invalid member is refused`(object: JSONObject, member: String) {
    #expect { _ = try Requestor(object) } throws: { ($0 as? JSONShapeError)?.name == member }
  }

  @Test(
    arguments: [
      ["provider": "cable"], ["provider": "cable", "allow": "a", "deny": "b"],
      ["provider": "cable", "allow": "a", "message": "no"],
      ["provider": "cable", "allow": "a", "account": "anna", "household": "h"],
      ["provider": "cable", "allow": #"a\"#], ["allow": "a"],
    ] as [JSONObject])
  func `a rule with contradictory or missing members is refused`(object: JSONObject) {
    #expect(throws: JSONShapeError.self) { try EntitlementRequest(object) }
  }
}

@Suite struct `Patches of admin records` {
  @Test func `a patch changes the members that it names and no others`() throws {
    var patch = Patch<Requestor>()
    patch.set(.color, "#123456")
    patch.set(.logo, .null)
    let changed = try patch.applied(to: Samples.requestor)
    var expected = Samples.requestor
    expected.color = "#123456"
    expected.logo = nil
    #expect(changed == expected)
    #expect(
      Samples.requestor.differences(to: changed).map(\.member) == ["logo", "color"])
  }

  @Test func `a patch changes one profile and leaves the others`() throws {
    let patch = try Patch<Integration>([
      "profiles": ["phone": ["authorizationLifetimeMs": 60_000]]
    ])
    let changed = try patch.applied(to: Samples.integration)
    #expect(Set(changed.profiles.keys.map(\.text)) == ["tv", "phone"])
    let away = try Patch<Integration>(["profiles": ["tv": nil]])
    #expect(try away.applied(to: changed).profiles.keys.map(\.text) == ["phone"])
  }

  @Test func `a patch with an unknown member is refused`() {
    #expect(throws: JSONShapeError.self) { try Patch<Requestor>(["nmae": "Acme"]) }
  }

  @Test func `a patch cannot change a record's id`() throws {
    let patch = try Patch<Requestor>(["id": "other"])
    #expect(throws: JSONShapeError.self) { try patch.applied(to: Samples.requestor) }
    let same = try Patch<Requestor>(["id": "acme"])
    #expect(try same.applied(to: Samples.requestor) == Samples.requestor)
  }

  @Test func `a patch that does not fit the rest of the record is refused`() throws {
    var patch = Patch<Provider>()
    patch.set(.lifetime, .integer(600_000))
    #expect(throws: JSONShapeError.self) { try patch.applied(to: Samples.provider) }
    patch.set(.kind, "temporary")
    #expect(try patch.applied(to: Samples.provider).temporaryPass?.duration == .seconds(600))
  }

  @Test func `a patch can make a new record`() throws {
    var patch = Patch<Account>()
    patch.set(.zipCodes, ["12345", "12345"])
    let account = try patch.record(["provider": "cable", "name": "anna"])
    #expect(account.attributes.zipCodes == ["12345"])
  }
}

private func reread<Document: AdminDocument & Equatable>(_ document: Document) throws {
  let value = try JSONValue(reading: document.object.bytes())
  #expect(try Document(value: value, named: "document") == document)
}
