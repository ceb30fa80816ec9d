import TestSupport
import RegentPairing
import Testing

@Suite struct `Resource patterns` {
  @Test(arguments: [
    ("ESPN", "ESPN", true), ("ESPN", "espn", true), ("ESPN", "ESPN2", false), ("*", "", true),
    ("*", "anything at all", true), ("ppv-*", "ppv-7", true), ("ppv-*", "ppv-", true),
    ("ppv-*", "xppv-7", false), ("*-hd", "news-HD", true), ("*-hd", "news-hdx", false),
    ("a*b*c", "a--b--c", true), ("a*b*c", "abc", true), ("a*b*c", "acb", false),
    ("a*a", "a", false), ("a*a", "aa", true), ("**", "x", true), ("a**b", "ab", true),
    (#"a\*b"#, "a*b", true), (#"a\*b"#, "axb", false), (#"a\\b"#, #"a\b"#, true),
    ("*ab*ab*", "abxab", true), ("*ab*ab*", "abab", true), ("*ab*ab*", "aba", false),
    ("テレビ*", "テレビ1", true),
  ])
  func `a pattern matches the resource names that the documentation states`(pattern: String, name: String, fits: Bool)
    throws
  {
    #expect(try #require(ResourcePattern(pattern)).matches(name) == fits)
  }

  @Test(arguments: ["", #"a\"#, #"a\b"#, String(repeating: "a", count: 257)])
  func `a pattern that is empty, too long or ends within an escape is refused`(pattern: String) {
    #expect(ResourcePattern(pattern) == nil)
  }

  @Test func `patterns agree with a slow reference matcher on random input`() throws {
    var generator = SeededGenerator(state: 5)
    func draw(_ letters: [Character], _ most: Int) -> String {
      String(
        (0..<Int.random(in: 1...most, using: &generator)).map { _ in
          letters.randomElement(using: &generator) ?? "a"
        })
    }
    for _ in 0..<5000 {
      let (pattern, name) = (draw(["a", "b", "*"], 7), draw(["a", "b"], 9))
      let expected = obviousMatch(Array(pattern)[...], Array(name)[...])
      #expect(
        try #require(ResourcePattern(pattern)).matches(name) == expected, "\(pattern) \(name)")
    }
  }

  private func obviousMatch(_ pattern: ArraySlice<Character>, _ name: ArraySlice<Character>) -> Bool {
    guard let first = pattern.first else { return name.isEmpty }
    if first == "*" {
      return obviousMatch(pattern.dropFirst(), name)
        || (!name.isEmpty && obviousMatch(pattern, name.dropFirst()))
    }
    return name.first == first && obviousMatch(pattern.dropFirst(), name.dropFirst())
  }
}

@Suite struct Entitlements {
  private let ann: AccountName
  private let home: HouseholdID

  init() throws {
    ann = try name("ann")
    home = try name("home")
  }

  private func rule(_ text: String, _ scope: EntitlementScope, _ effect: EntitlementEffect) throws
    -> Entitlement
  {
    Entitlement(
      id: try name("rule"), provider: try name("local"), scope: scope,
      pattern: try #require(ResourcePattern(text)), effect: effect)
  }

  private func decide(_ resource: String, _ rules: [Entitlement]) throws
    -> Result<AuthorizationSource, AuthorizationDenial>
  {
    let resource = RequestedResource(try name(resource))
    // The order of the rules does not matter.
    let answers = [rules, rules.reversed()].map { rules in
      Result { () throws(AuthorizationDenial) in
        try AuthorizationRules(account: ann, household: home, entitlements: rules).decide(resource)
      }
    }
    #expect(answers[0] == answers[1])
    return answers[0]
  }

  @Test func `a resource that no rule allows is denied`() throws {
    #expect(try decide("ESPN", []) == .failure(.provider(message: nil)))
    let others = try rule("*", .account(name("bob")), .allow)
    let elsewhere = try rule("*", .household(name("elsewhere")), .allow)
    #expect(try decide("ESPN", [others, elsewhere]) == .failure(.provider(message: nil)))
  }

  @Test func `the more specific pattern wins`() throws {
    let rules = try [
      rule("*", .account(ann), .allow), rule("ppv-*", .everybody, .deny(message: "order it first")),
      rule("ppv-7", .account(ann), .allow),
    ]
    #expect(try decide("news", rules) == .success(.entitlement))
    #expect(try decide("ppv-8", rules) == .failure(.provider(message: "order it first")))
    #expect(try decide("PPV-7", rules) == .success(.entitlement))
  }

  @Test func `for equal patterns the narrower scope wins, then the denial`() throws {
    let everybody = try rule("news", .everybody, .deny(message: nil))
    let household = try rule("news", .household(home), .allow)
    let account = try rule("news", .account(ann), .deny(message: "not you"))
    #expect(try decide("news", [everybody, household]) == .success(.entitlement))
    #expect(
      try decide("news", [everybody, household, account]) == .failure(.provider(message: "not you"))
    )
    let yes = try rule("news", .account(ann), .allow)
    #expect(try decide("news", [yes, account]) == .failure(.provider(message: "not you")))
    // A pattern without a star is more specific than the same pattern with one.
    let loose = try rule("news*", .account(ann), .deny(message: nil))
    #expect(try decide("news", [loose, household]) == .success(.entitlement))
  }

  @Test func `a channel of the line-up is allowed unless a rule denies it`() throws {
    var rules = AuthorizationRules(account: ann, lineUp: LineUp(["ESPN", "News"]))
    #expect(try rules.decide(RequestedResource(name("espn"))) == .lineUp)
    rules.entitlements = [try rule("espn", .everybody, .deny(message: "blackout"))]
    #expect(throws: AuthorizationDenial.provider(message: "blackout")) {
      try rules.decide(RequestedResource(name("espn")))
    }
  }

  @Test func `degradation takes precedence over every rule`() throws {
    var rules = AuthorizationRules(account: nil)
    let resource = RequestedResource(try name("X"))
    rules.degradation = .authorizeEverybody
    #expect(try rules.decide(resource) == .degradation)
    rules.degradation = .authenticateEverybody
    #expect(try rules.decide(resource) == .degradation)
    rules.degradation = .authorizeNobody
    rules.entitlements = [try rule("*", .everybody, .allow)]
    #expect(throws: AuthorizationDenial.degradation) { try rules.decide(resource) }
  }

  @Test func `a rating above the account's maximum is denied even when a rule allows the resource`() throws {
    let rules = AuthorizationRules(
      account: ann, maximumRatings: MaximumRatings([ParentalRating(scheme: .mpaa, value: "PG-13")]),
      entitlements: [try rule("*", .everybody, .allow)])
    func film(_ value: String) throws -> RequestedResource {
      RequestedResource(
        try name("<rss/>"), name: "films",
        ratings: [ParentalRating(scheme: RatingScheme("urn:mpaa"), value: value)])
    }
    #expect(try rules.decide(film("pg-13")) == .entitlement)
    #expect(throws: AuthorizationDenial.parentalControls) { try rules.decide(film("r")) }
  }
}

@Suite struct `Parental ratings` {
  private func rating(_ text: String) -> ParentalRating {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
    return ParentalRating(scheme: RatingScheme(parts[0]), value: parts[1])
  }

  @Test(arguments: [
    ("MPAA=PG-13", ["urn:mpaa=g"], true), ("MPAA=PG-13", ["urn:mpaa=pg13"], true),
    ("MPAA=PG-13", ["urn:mpaa=R"], false), ("MPAA=PG-13", ["urn:mpaa=NC-17"], false),
    ("MPAA=PG-13", ["urn:mpaa=XXX"], false), ("MPAA=PG-13", ["urn:mpaa="], false),
    ("VCHIP=TV-Y7", ["urn:v-chip=tv-y"], true), ("VCHIP=TV-Y7", ["urn:v-chip=TV-Y7-FV"], true),
    ("VCHIP=TV-Y7", ["urn:v-chip=tv-pg"], false), ("VCHIP=TV-MA", ["urn:v-chip=TVMA"], true),
    // The resource has another scheme than the account: compared by age.
    ("VCHIP=TV-Y7", ["urn:mpaa=R"], false), ("VCHIP=TV-14", ["urn:mpaa=PG-13"], true),
    ("VCHIP=TV-14", ["=adult"], false), ("VCHIP=TV-14", ["urn:simple=nonadult"], true),
    // Several ratings: one above the maximum denies, and at least one must be comparable.
    ("MPAA=PG", ["urn:mpaa=G", "urn:v-chip=TV-MA"], false),
    ("MPAA=PG", ["urn:icra=r (cz 1)", "urn:mpaa=G"], true),
    ("MPAA=PG", ["urn:icra=r (cz 1)"], false),
    // A scheme of numbers, and one of words.
    ("urn:fsk=12", ["urn:fsk=6"], true), ("urn:fsk=12", ["urn:fsk=16"], false),
    ("urn:fsk=12", ["urn:fsk=twelve"], false), ("urn:words=mild", ["urn:words=mild"], true),
    ("urn:words=mild", ["urn:words=wild"], false), ("MPAA=PG", [], true),
    ("MPAA=unknown", ["urn:mpaa=G"], false),
  ])
  func `a rating is compared with the maximum as documented`(maximum: String, resource: [String], allowed: Bool) {
    let limits = MaximumRatings([rating(maximum)])
    #expect(limits.allow(resource.map(rating)) == allowed)
  }

  @Test func `an account without a maximum may watch every rating`() {
    #expect(MaximumRatings().allow([rating("urn:mpaa=NC-17"), rating("x=y")]))
  }
}

@Suite struct Preauthorization {
  @Test func `a comma-separated list keeps the order of the request`() throws {
    let request = try PreauthorizationRequest(names: ["b, a,,c "], limit: 5)
    #expect(request.resources.map(\.text) == ["b", "a", "c"])
  }

  @Test func `when the parameter is repeated, each value is one name with its commas`() throws {
    for names in [["Hello, World", ""], ["Hello, World", " a"], ["", "<rss>a, b</rss>"]] {
      let request = try PreauthorizationRequest(names: names, limit: 2)
      #expect(request.resources.map(\.text) == names.filter { !$0.isEmpty })
    }
    #expect(throws: PreauthorizationRefusal.tooMany(limit: 1)) {
      try PreauthorizationRequest(names: ["a", "b"], limit: 1)
    }
  }

  @Test(arguments: [
    ("", PreauthorizationRefusal.missing), (" , ,", .missing), ("a,b,c", .tooMany(limit: 2)),
    ("a\u{1}", .unreadable),
  ])
  func `a list that is empty, too long or malformed is refused as a whole`(list: String, why: PreauthorizationRefusal) {
    #expect(throws: why) { try PreauthorizationRequest(names: [list], limit: 2) }
  }
}
