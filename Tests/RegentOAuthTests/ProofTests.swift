import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentOAuth
import RegentPairing
import Testing

@Suite("DPoP proofs") struct ProofTests {
  private let now = Instant(milliseconds: 1_790_000_000_000)
  private let boot = Uptime(milliseconds: 5_000_000)
  private let target = ProofTarget("https://tv.example.com/oauth/token")

  private func request(_ token: String? = nil) throws -> DPoPProof.Request {
    DPoPProof.Request(method: "POST", target: try #require(target), accessToken: token)
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `a DPoP proof that this library made can be read and is valid`(_ algorithm: SignatureAlgorithm) throws {
    let key = try SigningKey.generate(algorithm, rsaBits: 2048)
    let text = try DPoPProof.make(for: request("abc"), with: key, nonce: "n", at: now)
    let proof = try DPoPProof(text, for: request("abc"))
    #expect(proof.thumbprint == key.publicKey.thumbprint)
    #expect(proof.nonce == "n")
    #expect(proof.made == now)
    #expect(refusal { _ = try DPoPProof(text, for: self.request("abd")) } == .invalidDPoPProof)
  }

  @Test func `a proof's time may have a fraction`() throws {
    let key = try SigningKey.generate(.es256)
    for (seconds, made): (JSONValue, Instant?) in [
      (.double(1_790_000_000.25), now + .milliseconds(250)), (.double(1.79e9), now), (.double(1e300), nil),
      (.double(-0.5), nil), ("1790000000", nil),
    ] {
      let claims: JSONObject = [
        "jti": "1", "htm": "POST", "htu": "https://tv.example.com/oauth/token", "iat": seconds,
      ]
      let text = try JWS.signEmbeddingKey(claims.bytes(), with: key, type: "dpop+jwt")
      #expect((try? DPoPProof(text, for: request()))?.made == made, "\(seconds)")
    }
  }

  @Test func `a proof is refused for another method or URL`() throws {
    let key = try SigningKey.generate(.es256)
    let text = try DPoPProof.make(for: request(), with: key, nonce: nil, at: now)
    let other = try #require(ProofTarget("https://tv.example.com/oauth/userinfo"))
    for wrong in [
      DPoPProof.Request(method: "GET", target: try #require(target)),
      DPoPProof.Request(method: "post", target: try #require(target)),
      DPoPProof.Request(method: "POST", target: other),
    ] {
      #expect(refusal { _ = try DPoPProof(text, for: wrong) } == .invalidDPoPProof)
    }
  }

  /// Equivalent spellings of a URL are one target, so that a proof cannot be replayed under another spelling.
  @Test(arguments: [
    "https://tv.example.com/oauth/token", "HTTPS://TV.Example.COM/oauth/token",
    "https://tv.example.com:443/oauth/token",
    "https://tv.example.com/oauth/./token", "https://tv.example.com/x/../oauth/token",
    "https://tv.example.com/%6Fauth/token", "https://tv.example.com/oauth/token?a=b",
    "https://tv.example.com/oauth/token#f",
  ])
  func `equivalent spellings of a URL are the same target`(_ spelling: String) {
    #expect(ProofTarget(spelling) == target)
  }

  @Test(arguments: [
    "https://tv.example.com/oauth/token/", "https://tv.example.com/oauth/Token", "http://tv.example.com/oauth/token",
    "https://tv.example.com:444/oauth/token", "https://tv.example.com/oauth%2Ftoken", "/oauth/token", "",
    "https://a@tv.example.com/oauth/token", "https://tv.example.com",
  ])
  func `a different URL is a different target`(_ url: String) {
    #expect(ProofTarget(url) != target)
  }

  @Test func `a URL without a path has the path of one slash`() {
    #expect(ProofTarget("https://tv.example.com")?.text == "https://tv.example.com/")
    #expect(ProofTarget("https://tv.example.com/a/..")?.text == "https://tv.example.com/")
    #expect(ProofTarget("https://tv.example.com/../../a")?.text == "https://tv.example.com/a")
    #expect(ProofTarget("https://tv.example.com/a%2fb")?.text == "https://tv.example.com/a%2Fb")
  }

  /// Each case changes one member of the header; the signature is right.
  @Test(
    arguments: [
      ["typ": "JWT"], ["typ": nil], ["jwk": nil], ["jwk": "text"], ["crit": ["exp"]], ["jku": "https://x"],
      ["x5c": ["AA"]], ["alg": "none"], ["alg": "HS256"], ["alg": "ES384"],
    ] as [[String: JSONValue?]])
  func `a proof header that chooses its own key, algorithm or type is refused`(_ change: [String: JSONValue?]) throws {
    let key = try SigningKey.generate(.es256)
    let made = try DPoPProof.make(for: request(), with: key, nonce: nil, at: now)
    let parts = made.split(separator: ".").map(String.init)
    var header = try #require(JSONValue(reading: Base64URL.decode(parts[0])).object)
    for (name, value) in change { header[name] = value }
    let signed = Base64URL.encode(header.bytes()) + "." + parts[1]
    let text = signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
    #expect(refusal { _ = try DPoPProof(text, for: self.request()) } == .invalidDPoPProof)
  }

  @Test func `a proof with a private key in its header is refused`() throws {
    let key = try SigningKey.generate(.edDSA)
    let made = try DPoPProof.make(for: request(), with: key, nonce: nil, at: now)
    let parts = made.split(separator: ".").map(String.init)
    var header = try #require(JSONValue(reading: Base64URL.decode(parts[0])).object)
    var jwk = try #require(header["jwk"]?.object)
    jwk["d"] = .string(Base64URL.encode(Array(repeating: 1, count: 32)))
    header["jwk"] = .object(jwk)
    let signed = Base64URL.encode(header.bytes()) + "." + parts[1]
    let text = signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
    #expect(refusal { _ = try DPoPProof(text, for: self.request()) } == .invalidDPoPProof)
  }

  @Test func `every claim of a proof is required and must have the right type`() throws {
    let key = try SigningKey.generate(.es256)
    let whole: JSONObject = [
      "jti": "a", "htm": "POST", "htu": "https://tv.example.com/oauth/token", "iat": .integer(now.milliseconds / 1000),
    ]
    func proof(_ claims: JSONObject) throws -> DPoPProof {
      try DPoPProof(try JWS.signEmbeddingKey(claims.bytes(), with: key, type: "dpop+jwt"), for: request())
    }
    _ = try proof(whole)
    for name in ["jti", "htm", "htu", "iat"] {
      var claims = whole
      claims[name] = nil
      #expect(refusal { _ = try proof(claims) } == .invalidDPoPProof, "\(name) missing")
      claims[name] = ["x"]
      #expect(refusal { _ = try proof(claims) } == .invalidDPoPProof, "\(name) a list")
    }
    for (name, value) in [("jti", ""), ("iat", 9_223_372_036_854_775_807), ("nonce", 5)] as [(String, JSONValue)] {
      var claims = whole
      claims[name] = value
      #expect(refusal { _ = try proof(claims) } == .invalidDPoPProof, "\(name)")
    }
  }

  @Test func `a proof id of any length is remembered as a hash`() throws {
    let key = try SigningKey.generate(.edDSA)
    func proof(_ id: String, _ path: String = "token") throws -> DPoPProof {
      let claims: JSONObject = [
        "jti": .string(id), "htm": "POST", "htu": .string("https://tv.example.com/oauth/" + path),
        "iat": .integer(now.milliseconds / 1000),
      ]
      let target = try #require(ProofTarget("https://tv.example.com/oauth/token"))
      return try DPoPProof(
        JWS.signEmbeddingKey(claims.bytes(), with: key, type: "dpop+jwt"),
        for: DPoPProof.Request(method: "POST", target: target))
    }
    let long = String(repeating: "j", count: 2000)
    #expect(try proof(long).fingerprint.count == 32)
    #expect(try proof(long).fingerprint == proof(long, "./token?x=1").fingerprint)
    #expect(try proof(long).fingerprint != proof("k").fingerprint)
    #expect(refusal { _ = try proof(String(repeating: "j", count: 1_000_000)) } == .invalidDPoPProof)
  }

  @Test func `a valid nonce shows that a proof is fresh, whatever the box's clock says`() throws {
    let nonces = DPoPNonces(try HMACKey(.sha256, Secret(copying: Random.bytes(32))))
    let key = try SigningKey.generate(.edDSA)
    func check(_ nonce: String?, made: Instant, boot: Uptime) throws {
      let text = try DPoPProof.make(for: request(), with: key, nonce: nonce, at: made)
      try nonces.check(DPoPProof(text, for: request()), wall: now, boot: boot)
    }
    let nonce = nonces.current(at: boot)
    let past = Instant(milliseconds: 0)
    try check(nonce, made: past, boot: boot)
    try check(nonce, made: past, boot: boot + DPoPNonces.period)
    try check(nil, made: now + .seconds(60), boot: boot)
    try check(nil, made: now - .seconds(60), boot: boot)
    // The error is never invalid_dpop_proof: the box must learn that it needs a nonce.
    #expect(refusal { try check(nonce, made: now, boot: boot + DPoPNonces.period * 2) } == .useDPoPNonce)
    #expect(refusal { try check("yesterday", made: now, boot: boot) } == .useDPoPNonce)
    #expect(refusal { try check("", made: now, boot: boot) } == .useDPoPNonce)
    #expect(refusal { try check(nil, made: past, boot: boot) } == .useDPoPNonce)
    #expect(refusal { try check(nil, made: now + .seconds(62), boot: boot) } == .useDPoPNonce)
    let others = DPoPNonces(try HMACKey(.sha256, Secret(copying: Random.bytes(32))))
    #expect(!others.isValid(nonce, at: boot))
  }

  @Test func `a proof is accepted once, and a full replay memory refuses new proofs instead of forgetting`() {
    var replay = DPoPReplay(askers: 4)
    var now = Uptime(milliseconds: 0)
    func take(_ hash: UInt64) -> DPoPReplay.Verdict { replay.take(hash, of: .asker(nil), at: now) }
    #expect([take(1), take(1)] == [.fresh, .used])
    now = now + DPoPReplay.half
    #expect(take(1) == .used)
    #expect((2...5).map { take($0) } == [.fresh, .fresh, .fresh, .fresh])
    // Full: new proofs are refused for now, and no remembered proof is dropped for them.
    #expect([take(6), take(2)] == [.full, .used])
    #expect(replay.count == 5)
    now = now + DPoPReplay.half
    #expect([take(6), take(2), take(1)] == [.fresh, .used, .fresh])
    now = now + DPoPReplay.half * 5
    #expect(take(2) == .fresh)
    #expect(replay.count == 1)
  }

  private func signedIn(_ name: String) throws -> DPoPReplay.Owner {
    let provider = try #require(ProviderID("tv"))
    return .signedIn(Viewer(provider: provider, account: AccountName(name)))
  }

  @Test func `a viewer with many devices leaves room for the proofs of other viewers`() throws {
    var replay = DPoPReplay(capacity: 160)
    let now = Uptime(milliseconds: 0)
    var next: UInt64 = 0
    func fill(_ name: String) throws -> Int {
      try (0..<500).count { _ in
        next += 1
        return replay.take(next, of: try signedIn(name), at: now) == .fresh
      }
    }
    #expect(try fill("greedy") == 80)
    #expect(try fill("greedy") == 0)
    // Each of the others has a share of the second part.
    #expect(try (1...60).reduce(0) { $0 + (try fill("viewer-\($1)")) } == 80)
  }

  @Test func `DPoP proofs of code requests have a capacity of their own, of which each source has a share`() throws {
    var replay = DPoPReplay(capacity: 100, askers: 160)
    let viewer = try signedIn("viewer")
    var now = Uptime(milliseconds: 0)
    var next: UInt64 = 0
    func fill(_ owner: DPoPReplay.Owner) -> Int {
      var taken = 0
      for _ in 0..<500 {
        next += 1
        if replay.take(next, of: owner, at: now) == .fresh { taken += 1 }
      }
      return taken
    }
    func source(_ number: UInt8) -> DPoPReplay.Owner { .asker(SourceKey(address: [192, 0, 2, number])) }
    #expect(fill(source(1)) == 10)
    // Another source has its own share, and so have signed-in clients. All code requests together have a limit.
    let others = (2...60).reduce(0) { $0 + fill(source(UInt8($1))) }
    #expect(others == 150)
    #expect(fill(viewer) == 50)
    #expect(replay.look(1, of: viewer, at: now) == .used)
    // In the next ten minutes there is room again, and a proof of the last ten minutes is still refused.
    now = now + DPoPReplay.half
    #expect(replay.take(1, of: source(1), at: now) == .used)
    #expect(replay.look(1_000_000, of: viewer, at: now) == .fresh)
    #expect(fill(source(1)) == 10)
    #expect(fill(.asker(nil)) == 150)
  }
}
