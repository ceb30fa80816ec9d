import RegentPairingWire
import RegentPairing
import RegentJSON
import RegentCryptography
import MediaTokenC
import TestSupport
import Testing

@testable import MediaTokenVerifier

@Suite("Media tokens and other programs")
struct OtherProgramsTests {
  let mint = Mint.shared

  @Test(.enabled(if: installedProgram("openssl") != nil))
  func `openssl agrees about good and bad signatures`() throws {
    let openssl = try #require(installedProgram("openssl"))
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/key.pem", mint.key.publicKey.pem().utf8)
      let element = mint.made().element
      let signature = try mint.key.sign(element)
      for (place, isGood) in [(nil, true), (0, false), (element.count - 1, false)] as [(Int?, Bool)] {
        var bytes = element
        if let place { bytes[place] ^= 1 }
        try writeFile("\(folder)/element", bytes)
        try writeFile("\(folder)/signature", signature)
        let verdict = try run(
          openssl,
          [
            "dgst", "-sha256", "-verify", "\(folder)/key.pem", "-signature", "\(folder)/signature",
            "\(folder)/element",
          ])
        #expect((verdict.status == 0) == isGood)
      }
    }
  }

  @Test(.enabled(if: installedProgram("openssl") != nil))
  func `a token that openssl signed is valid`() throws {
    let openssl = try #require(installedProgram("openssl"))
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/key.pem", try mint.key.pem().exposedBytes())
      let token = mint.made()
      try writeFile("\(folder)/element", token.element)
      let signed = try run(
        openssl, ["dgst", "-sha256", "-sign", "\(folder)/key.pem", "\(folder)/element"])
      #expect(signed.status == 0)
      let text = token.serialized(signature: signed.output)
      #expect(mint.verifier().verifyNow(text, requestor: "SPORT", at: mint.now).verdict == .valid)
    }
  }

  @Test func `the C interface gives the same verdicts`() throws {
    let keys = mint.keySet.json.description
    let handle = unsafe verifierFromKeys(keys)
    #expect(unsafe handle != nil)
    defer { unsafe verifierFree(handle) }
    let token = try mint.token()
    let now = mint.now.milliseconds
    #expect(unsafe verify(handle, token, "channel-1", now) == 0)
    #expect(unsafe verify(handle, token, nil, now) == 0)
    #expect(unsafe verify(handle, "nonsense", nil, now) == 1)
    #expect(
      unsafe verify(
        handle, try mint.token(signedBy: SigningKey.generate(.rs256, rsaBits: 2048)), nil, now) == 2
    )
    #expect(unsafe verify(handle, token, nil, now + 3_600_000) == 3)
    #expect(unsafe verify(handle, token, nil, 0) == 3)
    #expect(unsafe verify(handle, token, "channel-2", now) == 4)
    #expect(unsafe verify(nil, token, nil, now) == 5)
    #expect(unsafe verify(handle, nil, nil, now) == 1)
    #expect(unsafe verifyFor(handle, token, "SPORT", "channel-1", now) == 0)
    #expect(unsafe verifyFor(handle, token, "SPORT", nil, now) == 0)
    #expect(unsafe verifyFor(handle, token, "SPORT", "channel-2", now) == 4)
    for requestor in ["", "NEWS", "SPOR", "SPORTS", "sport", "%53PORT", "SPORT "] {
      #expect(unsafe verifyFor(handle, token, requestor, "channel-1", now) == 6)
    }
    #expect(unsafe verifyFor(handle, token, nil, "channel-1", now) == 6)
  }

  @Test func `the C interface returns no verifier when there are no keys`() {
    #expect(unsafe verifierFromKeys(nil) == nil)
    #expect(unsafe verifierFromKeys("{}") == nil)
    #expect(unsafe verifierFromFile("/nowhere/keys.json") == nil)
    verifierFree(nil)
  }

  @Test func `the C interface copies fields and returns their lengths`() throws {
    let handle = unsafe verifierFromKeys(mint.keySet.json.description)
    defer { unsafe verifierFree(handle) }
    let token = try mint.token()
    var buffer = [CChar](repeating: 120, count: 5)
    #expect(unsafe field(handle, token, "mvpdId", &buffer, 5) == 5)
    #expect(buffer == [67, 65, 66, 76, 0])
    #expect(unsafe field(handle, token, "resourceID", nil, 0) == 9)
    #expect(unsafe field(handle, token, "timeToLive", nil, 0) == 6)
    #expect(unsafe field(handle, token, "nothing", nil, 0) == -1)
    #expect(unsafe field(handle, "x", "mvpdId", nil, 0) == -1)
    #expect(unsafe field(nil, token, "mvpdId", nil, 0) == -1)
  }

  @Test(
    .enabled(if: installedProgram("python3") != nil),
    .disabled(if: isSanitized, "Python cannot load a library that is built with a sanitizer"))
  func `the Python example gives the verifier's verdicts`() throws {
    let library = try productsFolder() + "/libMediaToken.so"
    try #require(
      (try? readFile(library)) != nil, "build it: swift build --product MediaToken")
    let python = try #require(installedProgram("python3"))
    let script = packageFolder() + "/docs/examples/verify-media-token/verify.py"
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/keys.json", mint.keySet.json.bytes(), mode: 0o644)
      try writeFile("\(folder)/token", Array((try mint.token() + "\n").utf8))
      let fresh = try mint.freshToken()
      try writeFile("\(folder)/fresh", Array((fresh + "\n").utf8))
      func said(_ file: String, _ expected: String...) throws -> (String, String) {
        let result = try run(
          "/bin/sh",
          ["-c", "\"$0\" \"$@\" < \(folder)/\(file)", python, script, library, "\(folder)/keys.json"] + expected)
        #expect(result.status == (result.outputText == "valid\n" ? 0 : 1))
        return (result.outputText, result.errorText)
      }
      // This token was issued years ago.
      #expect(try said("token", "SPORT", "channel-1") == ("expired\n", ""))
      #expect(try said("fresh", "SPORT", "channel-1") == ("valid\n", ""))
      try writeFile("\(folder)/ahead", Array((try mint.freshToken(ahead: 3_600_000) + "\n").utf8))
      let ahead = try said("ahead", "SPORT", "channel-1").0
      #expect(ahead.hasSuffix(" s in the future: the clocks differ\n"), "\(ahead)")
      for requestor in ["NEWS", "", "SPOR", "sport", "%53PORT"] {
        #expect(try said("fresh", requestor, "channel-1") == ("invalid requestor\n", ""))
      }
      // The call form of version 0.1.0, without a requestor, still works for one release and warns.
      let old = try said("fresh", "channel-1")
      #expect(old.0 == "valid\n")
      #expect(old.1.contains("DeprecationWarning"), "\(old.1)")
    }
  }
}
