import RegentEncodings
import Testing

/// Compares lenient base64 with its two predecessors.
///
/// One predecessor read identities of temporary passes, the other one descriptions of devices. What one of them read
/// must still be read, to the same bytes. The tables have the answer of each (nil: refused).
struct LenientCorpusTests {
  typealias Row = (text: String, passes: String?, devices: String?)

  /// Texts about which the two do not disagree: equal answers, or only one answer.
  static let agreed: [Row] = [
    ("", "", ""), (" ", "", ""), ("=", "", ""), ("====", "", ""), ("Z", nil, nil), ("Z=", nil, nil),
    ("Z===", nil, nil), ("Zg", "66", "66"), ("Zg=", "66", "66"), ("Zg==", "66", "66"), ("Zg===", "66", "66"),
    ("Zm8", "666f", "666f"), ("Zm8=", "666f", "666f"), ("Zm9v", "666f6f", "666f6f"), ("Zm9v=", "666f6f", "666f6f"),
    ("Zm9vZ", nil, nil), ("Zm9vZ===", nil, nil), ("Zm9vYmFy", "666f6f626172", "666f6f626172"), ("Zh", "66", "66"),
    ("Zh==", "66", "66"), ("Zm9", "666f", "666f"), ("Zm9=", "666f", "666f"), ("aGk+/w==", "68693eff", "68693eff"),
    ("aGk-_w==", "68693eff", "68693eff"), ("aGk-_w", "68693eff", "68693eff"), ("aGk+/w", "68693eff", "68693eff"),
    ("aGk+_w==", "68693eff", "68693eff"), ("_-8", "ffef", "ffef"), ("__8=", "ffff", "ffff"),
    (" Zm9v", "666f6f", "666f6f"), ("Zm9v ", "666f6f", "666f6f"), (" aGk+/w==\r\n", "68693eff", "68693eff"),
    ("Zm9v\r\nYmFy", "666f6f626172", "666f6f626172"), ("Zm9v\nYmFyYg==", "666f6f62617262", "666f6f62617262"),
    ("\nZm9v\n", "666f6f", "666f6f"), ("Zg==\r\n", "66", "66"), ("Zg\r\n==", "66", "66"), ("Zg=\n=", "66", "66"),
    ("\tZm9v", "666f6f", nil), ("Zm9v\t", "666f6f", nil), ("Zm9v\tYmFy", "666f6f626172", nil),
    ("Zm\t9v", "666f6f", nil), ("\u{0B}Zm9v", "666f6f", nil), ("Zm9v\u{0C}", "666f6f", nil),
    ("Zm9v\u{0B}YmFy", nil, nil), ("Zm\u{0C}9v", nil, nil), (" \t\r\n", "", nil), ("aGk /w==", "68693eff", nil),
    ("aGk /w", "68693eff", nil), ("aGk /w==\r\n", "68693eff", nil), ("  8=", nil, nil), ("  8", nil, nil),
    ("Pj4 ", "3e3e", "3e3e"), (" Pj4", "3e3e", "3e3e"), ("Zm9v YmFy", nil, "666f6f626172"), ("Zm 9v", nil, "666f6f"),
    ("Zg== ", "66", "66"), ("Zg= =", nil, "66"), ("Zm9v\tYmFy Yg==", "666f6f626172f988", nil),
    ("aGk\t /w==", "68693eff", nil), ("a=k=", nil, "6a"), ("Zg==Zg==", nil, "660660"), ("=Zm9v", nil, "666f6f"),
    ("Zm=v", nil, "666b"), ("Zm=9v=", nil, "666f6f"), ("Zm9v====", "666f6f", "666f6f"), ("Zg=\tv", nil, nil),
    ("Zm=9 v", nil, "666f6f"), ("Z=g==", nil, "66"), ("aG%3D", nil, nil), ("aGk.", nil, nil), ("aG\0k", nil, nil),
    ("Zm9v!", nil, nil), ("Zmé", nil, nil), ("Zm9v\u{A0}", nil, nil), ("\u{2003}Zm9v", nil, nil),
    ("Zm9v\u{85}", nil, nil), ("Zm9v\u{200B}YmFy", nil, nil), ("Zm9v，", nil, nil),
  ]

  enum Reading { case eatenPluses, layout }

  /// Texts that both read, but to different bytes.
  ///
  /// For identities a space was a `+` that a form decoder had replaced; in descriptions it was layout.
  static let contradicted: [(text: String, passes: String, devices: String, meant: Reading)] = [
    ("+ 8=", "fbef", "fb", .eatenPluses),
    ("Zm9v YmFyYg==", "666f6ff98985c988", "666f6f62617262", .layout),
    ("Zm9v YmFyYmE=", "666f6ff98985c98984", "666f6f6261726261", .layout),
    ("Zm9v YmFy YmF6 cXV4", "666f6ff98985cbe62617af9c5d5e", "666f6f62617262617a717578", .layout),
    ("Zm9v YmFy YmF6", "666f6ff98985cbe62617", "666f6f62617262617a", .layout),
    ("Zm 9", "666fbd", "666f", .eatenPluses),
    ("Z m 9 v", "67e9bef7eb", "666f6f", .layout),
    ("Zm9v  YmFy", "666f6ffbe62617", "666f6f626172", .layout),
    ("Zg ==", "660f", "66", .layout),
    ("aGk  w==", "68693efb", "686930", .eatenPluses),
    ("Zm9v \r\n YmFy", "666f6ffbe62617", "666f6f626172", .layout),
    ("Zm9v\r\n YmFyYg==", "666f6ff98985c988", "666f6f62617262", .layout),
  ]

  @Test(arguments: agreed)
  func `lenient base64 gives the same bytes as the two earlier decoders for every text that they read`(row: Row) {
    #expect(answer(row.text) == row.passes ?? row.devices)
  }

  @Test(arguments: contradicted)
  func `where two earlier decoders differed, a space after a whole group of four is layout, any other a plus sign`(
    text: String, passes: String, devices: String, meant: Reading
  ) {
    #expect(passes != devices)
    #expect(answer(text) == (meant == .layout ? devices : passes))
  }

  @Test func `an encoded text is decoded even if its plus signs became spaces`() throws {
    // 0xFB 0xEF 0xBE is "++++", so the text has a plus sign at every place of a group and with every length of the
    // last group.
    for count in 0..<12 {
      let bytes = (0..<count).map { [0xFB, 0xEF, 0xBE][$0 % 3] as UInt8 } + [0x41]
      let eaten = String(Base64.encode(bytes).map { $0 == "+" ? " " : $0 })
      guard !eaten.hasPrefix(" ") else { continue }
      #expect(try Base64.decodeLeniently(eaten) == bytes)
    }
  }

  private func answer(_ text: String) -> String? {
    (try? Base64.decodeLeniently(text)).map(Hex.encode)
  }
}
