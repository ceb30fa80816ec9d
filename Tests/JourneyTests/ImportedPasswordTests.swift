import Administration
import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import PairingStoreSQLite
import PasswordHashing
import RegentCryptography
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

/// Accounts with imported password hashes, added over the admin socket to a SQLite store.
@Suite struct `Accounts with a password hash of another program` {
  private static let password = "correct-horse-1"
  private static let bcrypt = "$2b$05$N9qo8uLOickgx2ZMRZoMyejr5xuJVHga.4XdaiMQSdYw9UXN/LLAC"
  private static let django = "pbkdf2_sha256$1000$0123456789abcdef$tCK6hGlAUX+S3wqmp1+SgHNTOMutbamyT+S+FkaxDUA="
  private static let sha512 =
    "$pbkdf2-sha512$i=1000$MDEyMzQ1Njc4OWFiY2RlZg$VQqVsOTogXoizhjHhKBUsMiY6tVGbPSuuJVK0b5OaVG5hcXRdinhVLO6/0bG9Fn5E97W1kA9UPK26ifJQkO6eQ"

  private struct Hotel {
    let service: TestService
    let admin: AdminSocket

    init(on store: any Store) async throws {
      service = try await TestService(on: store)
      admin = try AdminSocket(service.core)
    }

    func save(_ accounts: [(name: String, hash: String?)]) async throws -> (status: UInt16, text: String) {
      let changes = try accounts.map { one in
        let account = Account(provider: try named(Sample.provider), name: try named(one.name))
        return AccountChange(isNew: true, Patch(account), passwordHash: one.hash)
      }
      let body = AccountBatch(changes).object.description
      let answer = try await admin.send("POST", "/v1/accounts", body)
      return (answer.status, answer.text)
    }

    func stored(_ name: String) async throws -> String? {
      try await service.core.store.password(of: named(name), at: named(Sample.provider))
    }

    var forms: Set<PasswordForm> {
      get throws { service.core.passwordForms.forms(at: try named(Sample.provider)) }
    }
  }

  @Test(arguments: [
    bcrypt, django, sha512,
    "$argon2id$v=19$m=128,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$TBX7fddPYRUd/vDJhwTq4VAzEejtpMN7jH3sItxgtQo",
  ])
  func `an imported hash signs the viewer in and is replaced by an argon2id hash`(given: String) async throws {
    try await withFileStore { store in
      let hotel = try await Hotel(on: store)
      let answer = try await hotel.save([("anna", given)])
      #expect(answer == (200, #"{"outcomes":["added"]}"#))
      #expect(try hotel.forms.count == 1)
      try await withPhone(hotel.service) { client in
        var phone = PhoneBrowser(client)
        try await phone.open("/sign-in")
        let before = try await hotel.stored("anna")
        for wrong in ["x", "", given] {
          try await phone.send("sign-in/local", ["user": "anna", "password": wrong])
          #expect(phone.address != "/screens")
        }
        #expect(try await hotel.stored("anna") == before)
        try await phone.send("sign-in/local", ["user": "anna", "password": Self.password])
        #expect(phone.address == "/screens")
        let own = try #require(try await hotel.stored("anna"))
        #expect(own != before && own.hasPrefix("$argon2id$v=19$m=64,t=1,p=1$"))
        var other = PhoneBrowser(client)
        try await other.open("/sign-in")
        try await other.send("sign-in/local", ["user": "anna", "password": Self.password])
        #expect(other.address == "/screens")
        #expect(try await hotel.stored("anna") == own)
        // Importing the account again, as after a failed import, does not replace its password.
        #expect(try await hotel.save([("anna", given)]) == (200, #"{"outcomes":["unchanged"]}"#))
        #expect(try await hotel.stored("anna") == own)
        // When the last hash of this kind is gone, sign-ins no longer compute one.
        try await hotel.service.core.passwordForms.recount()
        #expect(try hotel.forms.isEmpty)
      }
    }
  }

  @Test func `every sign-in at a provider costs the same as with an imported hash, also after a restart`() async throws
  {
    try await withFileStore { store in
      let hotel = try await Hotel(on: store)
      _ = try await hotel.save([("anna", Self.bcrypt), ("bert", Self.django), ("carl", nil)])
      let both: Set = [PasswordForm.bcrypt(cost: 5), .pbkdf2(.sha256, rounds: 1000)]
      #expect(try hotel.forms == both)
      let again = try await TestService(restarting: hotel.service, on: store)
      let forms = again.core.passwordForms
      #expect(forms.forms(at: try named(Sample.provider)) == both)
      #expect(forms.forms(at: try named(Sample.pass)).isEmpty)
      // For every account, known or unknown, a sign-in computes one hash of each kind in use.
      let hasher = again.core.passwords
      let all: Set = both.union([.argon2id(hasher.parameters)])
      for stored in [
        nil, try await hotel.stored("anna"), try await hotel.stored("bert"), try await hotel.stored(Sample.account),
      ] {
        let order = try hasher.order(stored.map { try PasswordHash(reading: $0).form }, beside: both)
        #expect(order.count == 3 && Set(order) == all)
      }
    }
  }

  @Test(arguments: [
    ("$2b$31$N9qo8uLOickgx2ZMRZoMyejr5xuJVHga.4XdaiMQSdYw9UXN/LLAC", "cost 14 at most"),
    ("$argon2id$v=19$m=4194304,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "128 MiB"),
    ("pbkdf2_sha256$1000000000$0123456789abcdef$tCK6hGlAUX+S3wqmp1+SgHNTOMutbamyT+S+FkaxDUA=", "2000000 rounds"),
    ("pbkdf2_sha1$1000$0123456789abcdef$tCK6hGlAUX+S3wqmp1+SgHNTOMutbamyT+S+FkaxDUA=", "SHA-1"),
    ("correct-horse-1", "it is no argon2id"),
  ])
  func `a batch with one hostile hash is refused as a whole`(hash: String, reason: String) async throws {
    try await withFileStore { store in
      let hotel = try await Hotel(on: store)
      for path in ["/v1/accounts", "/v1/accounts/hashes"] {
        let question = #"{"questions":[{"provider":"local","name":"eve","passwordHash":"\#(hash)"}]}"#
        let answer =
          path == "/v1/accounts"
          ? try await hotel.save([("anna", Self.bcrypt), ("eve", hash)])
          : try await {
            let one = try await hotel.admin.send("POST", path, question); return (one.status, one.text)
          }()
        #expect(answer.status == 400 && answer.text.contains("the password hash of account local/eve is not supported"))
        #expect(answer.text.contains(reason), "\(answer.text)")
        #expect(!answer.text.contains(hash))
      }
      #expect(try await store.account(named(Sample.provider), named("anna")) == nil)
      #expect(try hotel.forms.isEmpty)
    }
  }

  @Test func `an import is refused when sign-ins would need too many kinds of hashes or too much time`() async throws {
    try await withFileStore { store in
      let hotel = try await Hotel(on: store)
      let many = (4...8).map { cost in
        ("viewer\(cost)", "$2b$0\(cost)$N9qo8uLOickgx2ZMRZoMyejr5xuJVHga.4XdaiMQSdYw9UXN/LLAC" as String?)
      }
      #expect(try await hotel.save(Array(many.prefix(4))).status == 200)
      let refused = try await hotel.save([many[4]])
      #expect(refused.status == 409, "\(refused.text)")
      #expect(refused.text.contains("in too many ways") && refused.text.contains("bcrypt with cost 8"))
      #expect(try await hotel.save([("more", many[0].1)]).status == 200)
      #expect(try hotel.forms.count == 4)
      // Three of the most expensive kinds are fewer than the four allowed, but already cost too much.
      let other = try await Hotel(on: MemoryStore())
      let dear = ["$2a$14$", "$2b$13$"].map { "\($0)N9qo8uLOickgx2ZMRZoMyejr5xuJVHga.4XdaiMQSdYw9UXN/LLAC" }
      #expect(try await other.save([("a", dear[0]), ("b", dear[1])]).status == 200)
      let most = Self.django.replacing("$1000$", with: "$2000000$")
      #expect(try await other.save([("c", most)]).status == 409)
    }
  }

  @Test func `a batch of accounts is added as a whole or not at all`() async throws {
    try await withFileStore { store in
      let hotel = try await Hotel(on: store)
      _ = try await hotel.save([("dora", nil)])
      let before = try await store.audit(after: 0, limit: 100).count
      let mixed = try await hotel.save([("anna", Self.bcrypt), ("dora", nil), ("bert", nil)])
      #expect(mixed == (200, #"{"outcomes":["added","unchanged","added"]}"#))
      #expect(try await store.audit(after: 0, limit: 100).count == before + 2)
      let twice = try await hotel.save([("carl", nil), ("carl", Self.bcrypt)])
      #expect(twice.status == 400, "\(twice.text)")
      #expect(try await store.account(named(Sample.provider), named("carl")) == nil)
      let tooMany = try await hotel.save((0...AdminPaths.page).map { ("viewer\($0)", nil) })
      #expect(tooMany.status == 400 && tooMany.text.contains("at most 500 accounts"))
      let lost = #"{"changes":[{"new":true,"account":{"provider":"lost","name":"a"}}]}"#
      #expect(try await hotel.admin.send("POST", "/v1/accounts", lost).status == 404)
      let guest = #"{"changes":[{"new":true,"account":{"provider":"pass","name":"a"}}]}"#
      #expect(try await hotel.admin.send("POST", "/v1/accounts", guest).text.contains("is temporary"))
    }
  }
}
