import Testing

@testable import RegentCryptography

struct SecretTests {
  @Test func `a secret shows only its length, whether by interpolation, reflection or dump`() {
    let secret = Secret("hunter2")
    var dumped = ""
    dump(secret, to: &dumped)
    dump(["key": secret], to: &dumped)
    for text in ["\(secret)", String(describing: secret), String(reflecting: secret), dumped] {
      #expect(text.contains("Secret(7 bytes)"))
      #expect(!text.contains("hunter2"))
      #expect(!text.contains("104"))
    }
  }

  @Test func `a secret matches its own bytes and no others`() {
    let secret = Secret("hunter2")
    #expect(secret.matches(Secret("hunter2")))
    #expect(!secret.matches(Secret("hunter3")))
    #expect(!secret.matches(Secret("hunter22")))
    #expect(!secret.matches(Secret("")))
    #expect(Secret("").matches(Secret("")))
    #expect(secret.exposedBytes() == Array("hunter2".utf8))
    #expect(secret.count == 7)
  }

  @Test(arguments: [0, 1, 15, 16, 33])
  func `the constant-time comparison is correct`(_ count: Int) {
    let bytes = Random.bytes(count)
    #expect(constantTimeEqual(bytes, bytes))
    #expect(!constantTimeEqual(bytes, bytes + [0]))
    for place in bytes.indices {
      var other = bytes
      other[place] ^= 0x80
      #expect(!constantTimeEqual(bytes, other))
    }
  }

  @Test func `wiping empties an array`() {
    var bytes: [UInt8] = [1, 2, 3]
    wipe(&bytes)
    #expect(bytes.isEmpty)
  }
}

struct RandomTests {
  /// The chi-square statistic: about the number of letters if all are equally likely, and in the thousands for the
  /// bias of `byte % letters`.
  private func chiSquare(_ counts: [Int]) -> Double {
    let expected = Double(counts.reduce(0, +)) / Double(counts.count)
    return counts.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
  }

  /// Twelve standard deviations above the mean, which chance reaches less than once in 10²⁰ runs.
  private func bound(_ letters: Int) -> Double {
    let freedom = Double(letters - 1)
    return freedom + 12 * (2 * freedom).squareRoot() + 60
  }

  @Test(arguments: [
    "ab", "abc", "BCDFGHJKLMNPQRSTVWXZ", "0123456789abcdefghijklmnopqrstuvwxyzABCD",
  ])
  func `every letter of a random text is equally likely`(_ alphabet: String) {
    let text = Random.text(200_000, from: alphabet)
    #expect(text.utf8.count == 200_000)
    let counts = alphabet.utf8.map { letter in text.utf8.count { $0 == letter } }
    #expect(counts.reduce(0, +) == 200_000)
    #expect(chiSquare(counts) < bound(counts.count))
  }

  @Test func `every random number is equally likely, and the test detects a bias`() {
    for below in [2, 3, 100, 200, 300, 1000] {
      var counts = [Int](repeating: 0, count: below)
      for _ in 0..<100_000 { counts[Random.number(below: below)] += 1 }
      #expect(chiSquare(counts) < bound(below), "\(below)")
    }
    var biased = [Int](repeating: 0, count: 100)
    for byte in Random.bytes(100_000) { biased[Int(byte) % 100] += 1 }
    #expect(chiSquare(biased) > bound(100))
  }

  @Test func `random numbers below one and below a whole byte work`() {
    #expect(Random.number(below: 1) == 0)
    #expect((0..<1000).allSatisfy { _ in Random.number(below: 256) < 256 })
    #expect((0..<1000).allSatisfy { _ in Random.number(below: .max) < .max })
    #expect(Random.text(5, from: "x") == "xxxxx")
    #expect(Random.text(0, from: "xy") == "")
  }

  @Test func `random bytes have the requested length and do not repeat`() {
    for count in [0, 1, 16, 1000] { #expect(Random.bytes(count).count == count) }
    #expect(Set((0..<1000).map { _ in Random.bytes(16) }).count == 1000)
    #expect(Random.secret().count == 32)
  }

  @Test func `a UUID has version 4 and the right variant`() {
    for _ in 0..<100 {
      let uuid = Array(Random.uuid().utf8)
      #expect(uuid.count == 36)
      #expect([8, 13, 18, 23].allSatisfy { uuid[$0] == UInt8(ascii: "-") })
      #expect(uuid[14] == UInt8(ascii: "4"))
      #expect("89ab".utf8.contains(uuid[19]))
    }
    #expect(Set((0..<1000).map { _ in Random.uuid() }).count == 1000)
  }

  @Test func `UUIDs of one time share their first digits, sort by time and are random otherwise`() {
    let moment: Int64 = 1_700_000_000_000
    let near = (0..<1000).map { _ in Array(Random.uuid(near: moment).utf8) }
    for uuid in near {
      #expect(uuid.count == 36)
      #expect(uuid.prefix(5) == near[0].prefix(5))
      #expect(uuid[14] == UInt8(ascii: "8"))
      #expect("89ab".utf8.contains(uuid[19]))
    }
    // Each of the other 27 digits takes every value that it may have.
    for place in near[0].indices.dropFirst(5) where ![8, 13, 14, 18, 19, 23].contains(place) {
      #expect(Set(near.map { $0[place] }).count == 16)
    }
    #expect(Set(near).count == 1000)
    let later = Array(Random.uuid(near: moment + 16).utf8)
    #expect(near[0].prefix(5).lexicographicallyPrecedes(later.prefix(5)))
    // Times before 1970 and the largest time work, too.
    for odd in [Int64.min, -1, 0, Int64.max] { #expect(Random.uuid(near: odd).utf8.count == 36) }
  }

  @Test func `a variable is empty after its bytes became a secret, and a copy keeps them`() {
    var bytes: [UInt8] = [1, 2, 3]
    let copy = bytes
    let secret = Secret(emptying: &bytes)
    #expect(bytes.isEmpty && copy == [1, 2, 3] && secret.matches([1, 2, 3]))
  }
}
