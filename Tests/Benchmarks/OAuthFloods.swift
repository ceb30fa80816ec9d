internal import RegentCryptography
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing
internal import RegentPlatform
internal import TestSupport

// Floods of the OAuth endpoints by an attacker who has no secret: with a client's id, which is in every copy of an app,
// or with invented secrets, each request from another network.

func oauthFloods() -> [(name: String, begin: (Battlefield) throws -> Flood)] {
  [
    ("new OAuth codes with proofs of possession", codesWithProofs), ("wrong client secrets", wrongSecrets),
    ("client assertions signed by another key", wrongAssertions),
  ]
}

/// Each proof is valid once; after the last one the flood repeats them.
private let preparedProofs = 40_000
/// The service does not remember refused assertions, so a few are enough.
private let preparedAssertions = 200

private func codesWithProofs(_ field: Battlefield) throws -> Flood {
  let address = "http://127.0.0.1:\(field.server.port)/oauth/device_authorization"
  guard let target = ProofTarget(address) else { throw TestSupportError("no address: \(address)") }
  // A proof without a nonce is refused if an earlier process could have accepted it, that is, if it is dated up to a
  // minute after the start of the service. These are dated almost a minute ahead of now.
  let ahead = Instant(milliseconds: Clocks.wallMilliseconds()) + DPoPProof.window - .seconds(1)
  let key = try SigningKey.generate(.edDSA)
  let proofs = try (0..<preparedProofs).map { _ in
    try DPoPProof.make(for: .init(method: "POST", target: target), with: key, nonce: nil, at: ahead)
  }
  let file = "\(field.folder)/proofs-\(field.round)"
  try writeFile(file, proofs.joined(separator: "\n").utf8)
  return try load(
    field, beforehand: form + "\nlocal proofs = io.lines(\"\(file)\")",
    lua: """
      local proof = proofs()
      if not proof then
        proofs = io.lines("\(file)")
        proof = proofs()
      end
      wrk.headers["DPoP"] = proof
      return wrk.format("POST", "/oauth/device_authorization", nil, "client_id=\(BenchClients.public)")
      """)
}

private func wrongSecrets(_ field: Battlefield) throws -> Flood {
  try load(
    field, beforehand: form,
    lua: """
      return wrk.format("POST", "/oauth/token", nil,
        "grant_type=refresh_token&refresh_token=x&client_id=\(BenchClients.api)&client_secret=wrong-" .. n)
      """)
}

private func wrongAssertions(_ field: Battlefield) throws -> Flood {
  let (key, now) = (try SigningKey.generate(.es256), Clocks.wallMilliseconds() / 1000)
  let assertions = try (0..<preparedAssertions).map { number in
    let claims: JSONObject = [
      "iss": .string(BenchClients.keyed), "sub": .string(BenchClients.keyed),
      "aud": .string("http://127.0.0.1:\(field.server.port)/oauth"), "jti": .string("\(field.round)-\(number)"),
      "iat": .integer(now), "exp": .integer(now + 60),
    ]
    return "\"\(try JWS.sign(claims.bytes(), with: key, keyID: "k", type: "JWT"))\""
  }
  return try load(
    field, beforehand: form + "\nlocal assertions = {\(assertions.joined(separator: ","))}",
    lua: """
      return wrk.format("POST", "/oauth/token", nil,
        "grant_type=refresh_token&refresh_token=x&client_assertion_type="
          .. "urn:ietf:params:oauth:client-assertion-type:jwt-bearer&client_assertion="
          .. assertions[n % #assertions + 1])
      """)
}

private let form = #"wrk.headers["Content-Type"] = "application/x-www-form-urlencoded""#
