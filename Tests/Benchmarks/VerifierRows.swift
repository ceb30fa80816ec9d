internal import RegentCryptography
internal import Glibc
internal import RegentJSON
internal import MediaTokenVerifier
internal import RegentPairing
internal import RegentPairingWire
internal import TestSupport

// Media tokens checked as by a stream server, compared with the signature alone: `openssl speed` with a key of the same
// kind and size. Both run in turn and are measured by the processor time of their processes.

func verifierRows() -> [Row] {
  [
    Row(
      name: "verifier: media tokens against openssl speed", unit: "/s cpu",
      bar: .oursOverReference(atLeast: 0.8), measure: compareVerifying)
  ]
}

private func compareVerifying() throws -> Measurement {
  guard let openssl = installedProgram("openssl") else {
    throw TestSupportError("openssl is not installed")
  }
  var rates: [[Double]] = [[], []]
  for round in 0..<6 {
    let ours = try run(try ownProgram(), ["verify-tokens", "1000"])
    // -mr prints one line for machines, `+F2:…:bits:signatures a second:verifications a second`, of processor time.
    let theirs = try run(openssl, ["speed", "-seconds", "1", "-mr", "rsa2048"])
    guard let rate = Double(ours.outputText.filter { $0 != "\n" }),
      let line = theirs.outputText.split(separator: "\n").first(where: { $0.hasPrefix("+F2:") }),
      let reference = line.split(separator: ":").last.flatMap({ Double($0) })
    else { throw TestSupportError("\(ours.errorText)\(theirs.errorText)\(theirs.outputText)") }
    guard round > 0 else { continue }
    rates[0].append(rate)
    rates[1].append(reference)
  }
  return Measurement(
    ours: median(rates[0]), reference: median(rates[1]),
    note: "a token is \(try sampleTokens(1).tokens.first?.utf8.count ?? 0) bytes of base64")
}

/// `verify-tokens MILLISECONDS` checks tokens for that time and prints the number of checks per second of processor
/// time.
func verifyTokens(_ arguments: [String]) -> Int32 {
  do {
    let span = arguments.first.flatMap { Double($0) } ?? 1000
    let (keys, tokens) = try sampleTokens(64)
    let verifier = MediaTokenVerifier(keys: .text(keys))
    // Warms up: the first check of a process looks algorithms up.
    try check(tokens, with: verifier)
    let start = processorSeconds()
    var checked = 0
    while processorSeconds() - start < span / 1000 {
      try check(tokens, with: verifier)
      checked += tokens.count
    }
    print(Int(Double(checked) / (processorSeconds() - start)))
    return 0
  } catch {
    note("\(error)\n")
    return 1
  }
}

/// `verify-given KEYS TOKENS REQUESTOR ROUNDS` checks the tokens of a file, one per line, ROUNDS times; the check
/// "instructions" counts what that costs.
func verifyGiven(_ arguments: [String]) -> Int32 {
  guard arguments.count == 4, let rounds = Int(arguments[3]) else {
    note("usage: Benchmarks verify-given KEYS TOKENS REQUESTOR ROUNDS\n")
    return 2
  }
  do {
    let tokens = String(decoding: try readFile(arguments[1]), as: UTF8.self).split(separator: "\n").map(String.init)
    let verifier = MediaTokenVerifier(keys: .file(arguments[0]))
    for _ in 0..<rounds { try check(tokens, of: arguments[2], with: verifier) }
    return 0
  } catch {
    note("\(error)\n")
    return 1
  }
}

private func check(
  _ tokens: [String], of requestor: String = "REF30", with verifier: MediaTokenVerifier
) throws {
  for token in tokens {
    let verdict = verifier.verifyNow(token, requestor: requestor, resource: "channel-1").verdict
    guard verdict == .valid else { throw TestSupportError("\(verdict)") }
  }
}

/// Tokens as the service makes them, each with a different signature.
private func sampleTokens(_ count: Int) throws -> (keys: String, tokens: [String]) {
  let key = try SigningKey.generate(.rs256, rsaBits: 2048)
  let keyID = key.publicKey.thumbprint
  var now = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &now)
  let tokens = try (0..<count).map { number in
    let token = MediaToken(
      sessionGUID: "5f4dcc3b5aa765d61d8327deb882cf\(number % 90 + 10)", requestor: "REF30",
      resource: "channel-1", issued: Instant(milliseconds: Int64(now.tv_sec) * 1000),
      provider: "local", keyID: keyID)
    return token.serialized(signature: try key.sign(token.element))
  }
  return (JWKSet([JWK(key.publicKey, keyID: keyID)]).json.description, tokens)
}

private func processorSeconds() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
