import Testing

@testable import RegentCryptography

struct SealingTests {
  struct Vector: Sendable {
    let key: String
    let nonce: String
    let plain: String
    let data: String
    let cipher: String
    let tag: String
  }

  static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
  static let plain =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
    + "b16aedf5aa0de657ba637b39"
  static let cipher =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
    + "c5f61e6393ba7a0abcc9f662"

  /// Test cases 13 to 16 of the GCM submission, those with 256-bit keys.
  static let vectors = [
    Vector(
      key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12), plain: "",
      data: "", cipher: "", tag: "530f8afbc74536b9a963b4f1c4cb738b"),
    Vector(
      key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
      plain: String(repeating: "00", count: 16), data: "",
      cipher: "cea7403d4d606b6e074ec5d3baf39d18",
      tag: "d0d1c8a799996bf0265b98b5d48ab919"),
    Vector(
      key: key, nonce: "cafebabefacedbaddecaf888", plain: plain + "1aafd255", data: "",
      cipher: cipher + "898015ad", tag: "b094dac5d93471bdec1a502270e3cc6c"),
    Vector(
      key: key, nonce: "cafebabefacedbaddecaf888", plain: plain,
      data: "feedfacedeadbeeffeedfacedeadbeefabaddad2", cipher: cipher,
      tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
  ]

  @Test(arguments: vectors)
  func `AES-GCM matches the test vectors of its specification`(_ vector: Vector) {
    let secret = Secret(copying: hex(vector.key))
    let work = GCM(secret, nonce: hex(vector.nonce), encrypts: true)
    work.authenticate(hex(vector.data))
    let cipher = work.transform(hex(vector.plain).span)
    let tag = work.finishedTag()
    #expect(cipher == hex(vector.cipher))
    #expect(tag == hex(vector.tag))

    let back = GCM(secret, nonce: hex(vector.nonce), encrypts: false)
    back.authenticate(hex(vector.data))
    let plain = back.transform(hex(vector.cipher).span)
    let isRight = back.tagIsRight(hex(vector.tag))
    #expect(plain == hex(vector.plain))
    #expect(isRight)
  }

  @Test(arguments: [0, 1, 16, 100, 5000])
  func `a sealed text can be opened`(_ count: Int) throws {
    let (key, secret) = SealingKey.generate(id: 7)
    let plain = Random.bytes(count)
    let box = key.seal(plain, associatedData: [1, 2])
    #expect(box.count == count + SealingKey.overhead)
    #expect(try SealingKey.id(of: box) == 7)
    #expect(try key.open(box, associatedData: [1, 2]).matches(plain))
    let again = try #require(SealingKey(id: 7, secret))
    #expect(try again.open(box, associatedData: [1, 2]).matches(plain))
    #expect(key.seal(plain, associatedData: [1, 2]) != box)
  }

  /// Two services that start from one snapshot of a virtual machine may draw the same random bytes.
  @Test func `equal random bytes give different nonces for different contents`() throws {
    let key = SealingKey.generate(id: 1).key
    let random = [UInt8](repeating: 7, count: 16)
    func nonce(_ text: String, _ data: [UInt8]) throws -> [UInt8] {
      let box = key.seal(Array(text.utf8).span, associatedData: data, random: random)
      #expect(try key.open(box, associatedData: data).matches(Array(text.utf8)))
      return Array(box[5..<17])
    }
    let nonces = try [
      nonce("one", [1]), nonce("two", [1]), nonce("one", [2]), nonce("one", []), nonce("", [1]), nonce("e", [1, 0]),
    ]
    #expect(Set(nonces).count == nonces.count)
    // Equal contents with equal associated data give equal boxes, which tells an attacker only that they are equal.
    #expect(try nonce("one", [1]) == nonces[0])
  }

  @Test func `a sealed box with any bit changed is refused`() {
    let key = SealingKey.generate(id: 0x0102_0304).key
    let box = key.seal(Array("secret".utf8), associatedData: [1])
    for bit in 0..<(box.count * 8) {
      var changed = box
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: SealError.self) { try key.open(changed, associatedData: [1]) }
    }
  }

  @Test func `a sealed box that is cut, extended, moved or sealed with another key is refused`() throws {
    let key = SealingKey.generate(id: 1).key
    let box = key.seal(Array("secret".utf8), associatedData: [1])
    for length in 0..<box.count {
      #expect(throws: SealError.self) { try key.open(Array(box[..<length]), associatedData: [1]) }
    }
    #expect(throws: SealError.notAuthentic) { try key.open(box + [0], associatedData: [1]) }
    #expect(throws: SealError.notAuthentic) { try key.open(box, associatedData: [2]) }
    #expect(throws: SealError.notAuthentic) { try key.open(box, associatedData: []) }
    #expect(throws: SealError.notAuthentic) {
      try SealingKey.generate(id: 1).key.open(box, associatedData: [1])
    }
    #expect(throws: SealError.otherKey(needed: 1)) {
      try SealingKey.generate(id: 2).key.open(box, associatedData: [1])
    }
    #expect(throws: SealError.unknownVersion(2)) {
      try key.open([2] + box.dropFirst(), associatedData: [1])
    }
    #expect(throws: SealError.malformed) { try key.open([], associatedData: [1]) }
    #expect(LibraryError("look").reasons.isEmpty)
  }

  @Test func `the key id in a sealed box is authenticated`() throws {
    let (key, secret) = SealingKey.generate(id: 1)
    let sameSecret = try #require(SealingKey(id: 2, secret))
    var box = key.seal(Array("secret".utf8), associatedData: [])
    box[4] = 2
    #expect(throws: SealError.notAuthentic) { try sameSecret.open(box, associatedData: []) }
  }

  @Test(arguments: [0, 16, 31, 33])
  func `a sealing key of the wrong length is refused`(_ count: Int) {
    #expect(SealingKey(id: 1, Random.secret(count)) == nil)
  }
}

struct FramedFieldsTests {
  @Test func `no two different lists of fields give the same message`() {
    func message(_ build: (inout FramedFields) -> Void) -> [UInt8] {
      var fields = FramedFields(purpose: "test", version: 1)
      build(&fields)
      return fields.bytes
    }
    let absent: String? = nil
    let noBytes: [UInt8]? = nil
    let messages = [
      message { _ in },
      message {
        $0.append("ab"); $0.append("c")
      },
      message {
        $0.append("a"); $0.append("bc")
      },
      message { $0.append("abc") },
      message {
        $0.append("abc"); $0.append("")
      },
      message {
        $0.append("abc"); $0.append(absent)
      },
      message { $0.append(Array("abc".utf8)) },
      message {
        $0.append(""); $0.append("abc")
      },
      message { $0.append(1) },
      message { $0.append(-1) },
      message { $0.append([0, 0, 0, 0, 0, 0, 0, 1] as [UInt8]) },
      message { $0.append("") },
      message { $0.append(absent) },
      message { $0.append([] as [UInt8]) },
      message {
        $0.append(noBytes); $0.append(noBytes)
      },
      FramedFields(purpose: "test", version: 2).bytes,
      FramedFields(purpose: "tes", version: 1).bytes,
    ]
    #expect(Set(messages).count == messages.count)
  }
}
