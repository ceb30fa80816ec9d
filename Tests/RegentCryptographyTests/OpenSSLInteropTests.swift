import TestSupport
import Testing

@testable import RegentCryptography

/// The same keys and signatures in the openssl command and here.
struct OpenSSLInteropTests {
  /// Runs openssl in `folder`.
  @discardableResult
  private func openssl(_ folder: String, _ arguments: String...) throws -> FinishedProgram {
    let arguments = arguments.map { $0.replacing("@", with: folder + "/") }
    let finished = try run("openssl", arguments)
    guard finished.status == 0 else {
      throw TestSupportError("openssl \(arguments): \(finished.errorText)")
    }
    return finished
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try readFile(path), as: UTF8.self)
  }

  private func generate(_ algorithm: SignatureAlgorithm, _ folder: String) throws {
    switch algorithm {
    case .rs256:
      try openssl(
        folder, "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "@key")
    case .es256:
      try openssl(
        folder, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "@key"
      )
    case .edDSA:
      try openssl(folder, "genpkey", "-algorithm", "ED25519", "-out", "@key")
    }
    try openssl(folder, "pkey", "-in", "@key", "-pubout", "-out", "@public")
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `a key of openssl signs here and openssl verifies`(_ algorithm: SignatureAlgorithm) throws {
    try withTemporaryFolder { folder in
      try generate(algorithm, folder)
      let key = try SigningKey(pem: Secret(text("\(folder)/key")))
      #expect(key.algorithm == algorithm)
      #expect(try key.publicKey == VerifyingKey(pem: text("\(folder)/public")))
      #expect(try key.publicKey.pem() == text("\(folder)/public"))

      let message = Array("message".utf8)
      let raw = try key.sign(message)
      try writeFile("\(folder)/message", message)
      try writeFile(
        "\(folder)/signature", algorithm == .es256 ? DER.ecdsaSignature(raw) : raw)
      if algorithm == .edDSA {
        try openssl(
          folder, "pkeyutl", "-verify", "-pubin", "-inkey", "@public", "-rawin", "-in", "@message",
          "-sigfile", "@signature")
      } else {
        try openssl(
          folder, "dgst", "-sha256", "-verify", "@public", "-signature", "@signature", "@message")
      }
    }
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `a key made here signs in openssl and verifies here`(_ algorithm: SignatureAlgorithm) throws {
    try withTemporaryFolder { folder in
      let key = try SigningKey.generate(algorithm, rsaBits: 2048)
      try writeFile("\(folder)/key", key.pem().exposedBytes())
      let message = Array("message".utf8)
      try writeFile("\(folder)/message", message)
      if algorithm == .edDSA {
        try openssl(
          folder, "pkeyutl", "-sign", "-inkey", "@key", "-rawin", "-in", "@message", "-out",
          "@signature")
      } else {
        try openssl(folder, "dgst", "-sha256", "-sign", "@key", "-out", "@signature", "@message")
      }
      var signature = try readFile("\(folder)/signature")
      if algorithm == .es256 { signature = try #require(DER.rawSignature(signature)) }
      #expect(key.publicKey.isValid(signature, for: message))
      #expect(!key.publicKey.isValid(signature, for: [0]))
    }
  }

  @Test func `the older forms of private keys are read`() throws {
    try withTemporaryFolder { folder in
      for algorithm in [SignatureAlgorithm.rs256, .es256] {
        try generate(algorithm, folder)
        try openssl(folder, "pkey", "-in", "@key", "-traditional", "-out", "@old")
        #expect(
          try text("\(folder)/old").contains(algorithm == .rs256 ? "RSA PRIVATE" : "EC PRIVATE"))
        #expect(
          try SigningKey(pem: Secret(text("\(folder)/old"))).publicKey
            == VerifyingKey(pem: text("\(folder)/public")))
      }
    }
  }

  @Test func `a compressed point is the same key`() throws {
    try withTemporaryFolder { folder in
      try generate(.es256, folder)
      try openssl(
        folder, "ec", "-in", "@key", "-pubout", "-conv_form", "compressed", "-out", "@small")
      let small = try VerifyingKey(pem: text("\(folder)/small"))
      #expect(try text("\(folder)/small") != text("\(folder)/public"))
      #expect(try small == VerifyingKey(pem: text("\(folder)/public")))
    }
  }

  @Test func `a signature with SHA-1 is verified where the old form is asked for, and only there`()
    throws
  {
    try withTemporaryFolder { folder in
      try generate(.rs256, folder)
      try writeFile("\(folder)/message", Array("REQUEST".utf8))
      try openssl(folder, "dgst", "-sha1", "-sign", "@key", "-out", "@signature", "@message")
      let key = try VerifyingKey(pem: text("\(folder)/public"))
      let signature = try readFile("\(folder)/signature")
      #expect(key.isValidLegacySHA1(signature, for: Array("REQUEST".utf8)))
      #expect(!key.isValid(signature, for: Array("REQUEST".utf8)))
      #expect(!key.isValidLegacySHA1(signature, for: Array("REQUESU".utf8)))
      let other = try SigningKey.generate(.es256)
      #expect(try !other.publicKey.isValidLegacySHA1(other.sign([1]), for: [1]))
    }
  }

  @Test(arguments: RSAPadding.allCases)
  func `what is encrypted to a certificate openssl decrypts`(_ padding: RSAPadding) throws {
    try withTemporaryFolder { folder in
      try openssl(
        folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "@key", "-out",
        "@certificate", "-subj", "/CN=test", "-days", "1")
      let certificate = try text("\(folder)/certificate")
      let key = try RSAEncryptionKey(pem: certificate)
      let message = Array(#"{"zip":"12345"}"#.utf8)
      let encrypted = try key.encrypt(message, padding)
      #expect(encrypted.count == 256)
      #expect(try key.encrypt(message, padding) != encrypted)
      try writeFile("\(folder)/encrypted", encrypted)
      let options =
        switch padding {
        case .pkcs1: ["rsa_padding_mode:pkcs1"]
        case .oaepSHA1: ["rsa_padding_mode:oaep"]
        case .oaepSHA256: ["rsa_padding_mode:oaep", "rsa_oaep_md:sha256", "rsa_mgf1_md:sha256"]
        }
      let finished = try run(
        "openssl",
        ["pkeyutl", "-decrypt", "-inkey", folder + "/key", "-in", folder + "/encrypted"]
          + options.flatMap { ["-pkeyopt", $0] })
      #expect(finished.output == message)

      let back = try RSADecryptionKey(pem: Secret(text("\(folder)/key")))
      #expect(try back.decrypt(encrypted, padding).matches(message))
      let longest = Random.bytes(key.longestMessage(padding))
      #expect(try back.decrypt(key.encrypt(longest, padding), padding).matches(longest))
      #expect(throws: KeyError.messageTooLong(limit: longest.count)) {
        try key.encrypt(longest + [0], padding)
      }
      #expect(try VerifyingKey(pem: certificate).algorithm == .rs256)
    }
  }

  @Test(arguments: [
    ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], ["-algorithm", "X25519"],
    ["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"],
    ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
    [
      "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-pkeyopt",
      "ec_param_enc:explicit",
    ],
    ["-algorithm", "ED448"],
  ])
  func `keys of other kinds and sizes are refused`(_ options: [String]) throws {
    try withTemporaryFolder { folder in
      let made = try run("openssl", ["genpkey", "-out", folder + "/key"] + options)
      try #require(made.status == 0, "\(made.errorText)")
      try openssl(folder, "pkey", "-in", "@key", "-pubout", "-out", "@public")
      #expect(throws: KeyError.self) { try SigningKey(pem: Secret(text("\(folder)/key"))) }
      #expect(throws: KeyError.self) { try VerifyingKey(pem: text("\(folder)/public")) }
      #expect(throws: KeyError.self) { try RSAEncryptionKey(pem: text("\(folder)/public")) }
    }
  }

  @Test func `a password-protected key of openssl is refused without asking anybody`() throws {
    try withTemporaryFolder { folder in
      try openssl(
        folder, "genpkey", "-algorithm", "ED25519", "-aes256", "-pass", "pass:x", "-out", "@key")
      #expect(throws: KeyError.encrypted) { try SigningKey(pem: Secret(text("\(folder)/key"))) }
    }
  }
}
