import AccessEnabler
import CommandKit
import Glibc
import RegentCryptography
import RegentJSON
import RegentPlatform
import TestSupport
import Testing

@testable import DeviceAgent

@Suite("Platform account: app lines in agent.conf")
struct AppRuleTests {
  private func rule(_ text: String) throws -> AppRule { try AppRule(parsing: text, in: "agent.conf line 1") }

  private func who(_ user: UInt32, _ groups: [UInt32] = []) -> UnixCredentials {
    UnixCredentials(process: 1, user: user, group: user, supplementaryGroups: groups)
  }

  @Test(arguments: [
    "", "kodi", "kodi user:1001", "kodi requestor:acme", "kodi user:1001 requestor:",
    "kodi user:1001 user:1002 requestor:a",
    "kodi * requestor:a", "kodi program:/usr/bin/kodi requestor:a", "kodi user:1001 requestor:a socket:../x",
    "kodi user:1001 requestor:a,b", "kodi user:4294967295 requestor:a", "kodi group:4294967295 requestor:a",
    "-x user:1001 requestor:a", ".. user:1001 requestor:a", "ko/di user:1001 requestor:a",
    "\u{1b}]0;x user:1 requestor:a",
    "ko\u{202e}di user:1001 requestor:a", "user:1001 requestor:a", "kodi user:nobody-has-this-name requestor:a",
  ])
  func `a malformed app line is refused`(line: String) {
    #expect(throws: CommandError.self) { try rule(line) }
  }

  @Test func `every condition of an app line must hold, and a requestor may repeat`() throws {
    let book = AppBook(
      [
        try rule("kodi user:1001 requestor:acme requestor:news"), try rule("video group:77 user:1002 requestor:acme"),
        try rule("boxed user:1001 requestor:acme socket:boxed"), try rule("open requestor:acme socket:open"),
      ], overflow: [65_534])
    #expect(book.app(of: who(1001), on: nil, requestor: "acme") == "kodi")
    #expect(book.app(of: who(1001), on: nil, requestor: "news") == "kodi")
    #expect(book.app(of: who(1001), on: nil, requestor: "ACME") == nil, "byte by byte")
    #expect(book.app(of: who(1001), on: nil, requestor: "other") == nil)
    #expect(book.app(of: who(1002), on: nil, requestor: "acme") == nil, "not in the group")
    #expect(book.app(of: who(1002, [5, 77]), on: nil, requestor: "acme") == "video")
    #expect(
      book.app(of: who(1003, [77]), on: nil, requestor: "acme") == nil, "another user of the group")
    #expect(book.app(of: who(0), on: nil, requestor: "acme") == nil, "root is no app")
    #expect(book.app(of: who(1001), on: "boxed", requestor: "acme") == "boxed")
    #expect(book.app(of: who(1002), on: "boxed", requestor: "acme") == nil)
    #expect(book.app(of: who(1009), on: "open", requestor: "acme") == "open")
    #expect(book.app(of: who(1001), on: "strange", requestor: "acme") == nil)
    #expect(book.sockets == ["boxed", "open"])
  }

  @Test(arguments: [
    (["one user:1001 requestor:acme", "two user:1001 requestor:news requestor:acme"], "agent.conf line 1"),
    (["one user:1001 requestor:acme", "x user:7 requestor:a", "two user:1001 group:77 requestor:acme"], "line 1"),
    (["one requestor:acme socket:s", "two user:1001 requestor:acme socket:s"], "line 1"),
    (["one user:1001 requestor:acme", "two user:65534 requestor:acme"], "overflow user or group"),
    (["one group:65534 user:1001 requestor:acme"], "overflow user or group"),
  ])
  func `an app line that could never match is refused with its place`(lines: [String], says: String) {
    let placed = lines.enumerated().map { (text: $0.element, place: "agent.conf line \($0.offset + 1)") }
    let error = #expect(throws: CommandError.self) { try AppRule.all(placed, overflow: [65_534]) }
    #expect(error?.message.hasPrefix("agent.conf line \(lines.count): ") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains(says) == true, "\(error?.message ?? "")")
  }

  @Test func `app lines are accepted if each of them can match a program`() throws {
    let lines = [
      "two user:1001 group:77 requestor:acme", "one user:1001 requestor:acme", "one user:1001 requestor:news",
      "one user:1002 requestor:acme", "three user:1001 requestor:acme socket:three", "four user:1001 requestor:four",
    ]
    let placed = lines.map { (text: $0, place: "agent.conf") }
    #expect(try AppRule.all(placed, overflow: [65_534]).map(\.name) == ["two", "one", "one", "one", "three", "four"])
  }

  @Test func `the kernel's overflow user, which stands for many users, is never an app`() throws {
    let book = AppBook(
      [
        try rule("a user:65534 requestor:acme"), try rule("b group:65534 requestor:acme"),
        try rule("c requestor:acme socket:c"),
      ])
    #expect(book.app(of: who(65_534), on: nil, requestor: "acme") == nil)
    #expect(book.app(of: who(1001, [65_534]), on: nil, requestor: "acme") == nil)
    #expect(book.app(of: who(65_534), on: "c", requestor: "acme") == nil)
    #expect(AppBook.overflowIDs().contains(65_534))
  }
}

@Suite("Platform account: stored decisions")
struct PermissionTests {
  private let kodi = AppRequestor(app: "kodi", requestor: "acme")

  @Test func `a decision survives a restart and can be withdrawn`() throws {
    try withTemporaryFolder { folder in
      let store = try PermissionStore(folder: folder)
      #expect(store.permission(of: kodi) == .undetermined)
      #expect(try store.decide(.granted, kodi) == .undetermined)
      #expect(store.permission(of: AppRequestor(app: "kodi", requestor: "news")) == .undetermined)
      let again = try PermissionStore(folder: folder)
      #expect(again.permission(of: kodi) == .granted)
      try again.decide(.denied, kodi)
      #expect(try PermissionStore(folder: folder).permission(of: kodi) == .denied)
      try again.decide(.undetermined, kodi)
      #expect(try PermissionStore(folder: folder).decisions == [:])
    }
  }

  @Test func `a grant that cannot be written does not take effect, but a denial does`() throws {
    try withTemporaryFolder { folder in
      let store = try PermissionStore(folder: folder)
      // Acts like a full disk for every user: a folder in place of the file.
      try PrivateDirectory.ensure("\(folder)/permissions")
      let error = #expect(throws: CommandError.self) { try store.decide(.granted, kodi) }
      #expect(error?.code == "storage")
      #expect(store.permission(of: kodi) == .undetermined, "asked again, never granted")
      try PrivateDirectory.remove("\(folder)/permissions")
      try store.decide(.granted, kodi)
      #expect(store.permission(of: kodi) == .granted)
      try DurableFile.remove("\(folder)/permissions")
      try PrivateDirectory.ensure("\(folder)/permissions")
      for no in [PlatformPermission.denied, .undetermined] {
        #expect(throws: CommandError.self) { try store.decide(no, kodi) }
        #expect(store.permission(of: kodi) == no)
        #expect(store.untold.map(\.permission) == [no])
      }
    }
  }

  @Test(arguments: [
    "", "{}", "[", #"{"version":2,"permissions":[]}"#, #"{"version":1,"permissions":[{"app":"kodi"}]}"#,
    #"{"version":1,"permissions":[{"app":"kodi","requestor":"acme","permission":"always"}]}"#,
  ])
  func `a damaged file of decisions grants nothing and is reported`(text: String) throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/permissions", text.utf8)
      let store = try PermissionStore(folder: folder)
      #expect(store.decisions == [:])
      #expect(store.trouble?.contains("must ask the viewer again") == true)
    }
  }

  /// A file that root wrote by hand, or whose mode was widened, must not keep the daemon from starting.
  @Test(arguments: [(mode: mode_t(0o644), owner: uid_t(0)), (mode: 0o600, owner: 65_533)])
  func `a file of another user or with a wide mode grants nothing and is reported`(mode: mode_t, owner: uid_t) throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/permissions"
      try PermissionStore(folder: folder).decide(.granted, kodi)
      let isChanged = unsafe chmod(path, mode) == 0 && chown(path, owner, owner) == 0
      #expect(isChanged)
      let store = try PermissionStore(folder: folder)
      #expect(store.permission(of: kodi) == .undetermined)
      #expect(store.trouble?.contains("must ask the viewer again") == true)
      // Later decisions are stored in a new file.
      try store.decide(.denied, kodi)
      #expect(try PermissionStore(folder: folder).permission(of: kodi) == .denied)
    }
  }

  @Test(arguments: [false, true])
  func `after a damaged file the service's denials apply, but not its grants`(isRestarted: Bool) throws {
    try withTemporaryFolder { folder in
      let (video, news) = (AppRequestor(app: "video", requestor: "acme"), AppRequestor(app: "news", requestor: "acme"))
      try writeFile("\(folder)/permissions", "{".utf8)
      var store = try PermissionStore(folder: folder)
      try store.decide(.granted, news)
      if isRestarted {
        store = try PermissionStore(folder: folder)
        #expect(store.trouble != nil, "no list has come yet")
      }
      store.told(try #require(store.untold.first))
      let changed = try store.takeOver([kodi: .granted, video: .denied, news: .granted], asOf: store.revision)
      #expect(changed == [video])
      #expect(store.permission(of: kodi) == .undetermined && store.permission(of: news) == .granted)
      #expect(store.untold.map(\.who) == [kodi] && store.untold.map(\.permission) == [.undetermined])
      let again = try PermissionStore(folder: folder)
      #expect(again.trouble == nil && again.permission(of: kodi) == .undetermined)
      #expect(again.permission(of: video) == .denied)
      // Decisions made later at the service apply again.
      again.told(try #require(again.untold.first))
      #expect(try again.takeOver([kodi: .granted], asOf: again.revision) == [kodi])
    }
  }

  @Test func `another viewer's grants do not apply to the next viewer, but denials stay`() throws {
    try withTemporaryFolder { folder in
      let video = AppRequestor(app: "video", requestor: "acme")
      let store = try PermissionStore(folder: folder)
      try store.decide(.granted, kodi)
      #expect(store.belong(to: "anna") == [], "allowed before a viewer signed in")
      try store.decide(.denied, video)
      for decision in store.untold { store.told(decision) }
      #expect(store.permission(of: kodi) == .granted)
      let again = try PermissionStore(folder: folder)
      #expect(again.belong(to: "anna") == [], "the same viewer, signed in again")
      #expect(again.belong(to: "bert") == [kodi])
      #expect(again.permission(of: kodi) == .undetermined && again.permission(of: video) == .denied)
      #expect(again.untold.map(\.permission) == [.undetermined], "the service hears of it")
      let last = try PermissionStore(folder: folder)
      #expect(last.decisions == [video: .denied] && last.belong(to: "bert") == [])
      #expect(
        try last.takeOver([kodi: .granted], asOf: last.revision) == [], "not told yet")
    }
  }

  @Test func `the number of decisions is bounded`() throws {
    var book = PermissionBook()
    for number in 0..<PermissionBook.most {
      book = try #require(book.deciding(.granted, AppRequestor(app: "a\(number)", requestor: "r"), at: 1))
    }
    #expect(book.deciding(.granted, kodi, at: 2) == nil, "the new app is refused, and no earlier one is forgotten")
    #expect(book.deciding(.denied, AppRequestor(app: "a1", requestor: "r"), at: 2) != nil)
    #expect(PermissionBook(reading: book.document.bytes()) == book)
  }

  @Test func `the viewer gets one question at a time, one a minute for each app, and none after a denial`() {
    var book = PromptBook()
    let minute = PromptBook.pause
    let other = AppRequestor(app: "news", requestor: "acme")
    guard case .open(let question) = book.ask(kodi, .undetermined, now: minute) else {
      Issue.record("not asked")
      return
    }
    #expect(book.ask(kodi, .undetermined, now: minute + 1) == .open(question), "the same question")
    #expect(book.ask(other, .undetermined, now: minute + 1) == .another)
    book.decided(kodi)
    #expect(book.open == nil)
    #expect(book.ask(kodi, .undetermined, now: minute + 2) == .tooSoon)
    #expect(book.ask(kodi, .denied, now: 10 * minute) == .decided)
    #expect(book.ask(kodi, .granted, now: 10 * minute) == .decided)
    guard case .open(let later) = book.ask(other, .undetermined, now: minute + 3) else {
      Issue.record("not asked")
      return
    }
    // The question expired without an answer: nothing is decided, and the next app gets its turn.
    #expect(book.ask(kodi, .undetermined, now: later.deadline) != .another)
    // The app that had the last question does not get the next one, even if it asks first.
    var held = PromptBook()
    _ = held.ask(kodi, .undetermined, now: minute)
    #expect(held.ask(kodi, .undetermined, now: 2 * minute) == .tooSoon)
    guard case .open = held.ask(other, .undetermined, now: 2 * minute) else {
      Issue.record("the other one is not asked")
      return
    }
    // A clock that jumps back shows no question.
    var early = PromptBook()
    _ = early.ask(kodi, .undetermined, now: 5 * minute)
    early.decided(kodi)
    #expect(early.ask(kodi, .undetermined, now: minute) == .tooSoon)
  }
}

@Suite("Platform account: the box's key")
struct BoxKeyTests {
  @Test func `the box's key opens for one sign-in on one machine`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/machine", "0123456789abcdef\n".utf8)
      try writeFile("\(folder)/elsewhere", "fedcba9876543210\n".utf8)
      try writeFile("\(folder)/empty", "\n".utf8)
      let file = try BoxKeyFile(folder: folder, machineIDFile: "\(folder)/machine")
      #expect(try file.key(of: "one") == nil)
      let key = try file.newKey()
      try file.keep(BoxKeyFile.Kept(key: key, signIn: "one", box: "b"))
      let kept = try #require(try file.key(of: "one"))
      #expect(kept.key.publicKey == key.publicKey && kept.box == "b")
      #expect(try file.key(of: "two") == nil, "made with another sign-in")
      #expect(try BoxKeyFile(folder: folder, machineIDFile: "\(folder)/elsewhere").key(of: "one") == nil)
      let without = try BoxKeyFile(folder: folder, machineIDFile: "\(folder)/empty")
      #expect(try without.key(of: "one") == nil)
      #expect(throws: CommandError.self) { try without.newKey() }
      #expect(try PrivateFile.check("\(folder)/key"), "0600")
      let text = String(decoding: try readFile("\(folder)/key"), as: UTF8.self)
      #expect(!text.contains("0123456789abcdef"))
      // The file decides, not a cached key: another program may have written a new one.
      let other = try BoxKeyFile(folder: folder, machineIDFile: "\(folder)/machine")
      try other.keep(BoxKeyFile.Kept(key: try other.newKey(), signIn: "two", box: "c"))
      #expect(try file.key(of: "one") == nil)
      #expect(try file.key(of: "two")?.box == "c")
      other.forget()
      #expect(try file.key(of: "two") == nil)
    }
  }

  @Test func `a truncated key file gives no key`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/machine", "0123456789abcdef".utf8)
      let file = try BoxKeyFile(folder: folder, machineIDFile: "\(folder)/machine")
      try file.keep(BoxKeyFile.Kept(key: try file.newKey(), signIn: "one", box: "b"))
      #expect(try file.key(of: "one") != nil)
      let bytes = try readFile("\(folder)/key")
      for cut in [0, 1, bytes.count / 2, bytes.count - 1] {
        try writeFile("\(folder)/key", bytes.prefix(cut))
        #expect(try file.key(of: "one") == nil)
      }
    }
  }
}

@Suite("Platform account: the doctor")
struct AccountFindingTests {
  @Test func `a box without apps has no finding`() {
    #expect(AccountFindings.of(["signedIn": false, "apps": [], "refused": []], now: 0).isEmpty)
  }

  @Test func `the doctor says when the account expires and which users were refused`() {
    let apps: JSONValue = [
      ["app": "kodi", "requestor": "acme", "permission": "granted", "named": true],
      ["app": "old", "requestor": "acme", "permission": "denied", "named": false],
    ]
    let day: Int64 = 86_400_000
    var status: JSONObject = ["signedIn": false, "apps": apps, "refused": []]
    #expect(AccountFindings.of(.object(status), now: 0).first?.hint?.contains("regent sso sign-in") == true)
    status["providerName"] = "Cable"
    status["expires"] = .integer(30 * day)
    #expect(AccountFindings.of(.object(status), now: 0).map(\.verdict) == [.good, .note])
    #expect(AccountFindings.of(.object(status), now: 28 * day).first?.verdict == .note)
    status["failure"] = "its file cannot be read"
    #expect(AccountFindings.of(.object(status), now: 0).first?.verdict == .bad)
    status["refused"] = [["user": 4_294_967_295, "requestor": "acme", "count": 3]]
    #expect(AccountFindings.of(.object(status), now: 0)[1].sentence.contains("3 times"))
  }

  @Test func `the doctor suggests no line for agent conf with words that a refused program chose`() {
    let asked: JSONValue = [["user": 4_294_967_295, "requestor": "acme requestor:other socket:x", "count": 1]]
    let finding = AccountFindings.of(["signedIn": false, "apps": [], "refused": asked], now: 0).first
    #expect(finding?.hint?.hasSuffix(" requestor:ID") == true)
    #expect(finding?.sentence.contains("other") == false)
  }
}
