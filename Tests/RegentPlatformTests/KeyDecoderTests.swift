import RegentPlatform
import Testing

@Suite struct KeyDecoderTests {
  @Test(
    arguments: [
      ("a", [.character("a")]), ("é한", [.character("é"), .character("한")]),
      ("\r", [.enter]), ("\n", [.enter]), ("\t", [.tab]), ("\u{7f}", [.backspace]),
      ("\u{3}", [.control("c")]), ("\u{1b}[A\u{1b}OB", [.up, .down]),
      ("\u{1b}[3~\u{1b}[5~\u{1b}[6~", [.delete, .pageUp, .pageDown]),
      ("\u{1b}[1;5C", [.right]), ("\u{1b}[H\u{1b}[F\u{1b}[Z", [.home, .end, .backTab]),
      ("\u{1b}[99~x", [.character("x")]), ("\u{1b}x", [.escape, .character("x")]),
    ] as [(String, [Key])])
  func `bytes are decoded into keys, in one piece or byte by byte`(text: String, keys: [Key]) {
    var whole = KeyDecoder()
    #expect(whole.feed(text.utf8) == keys)
    #expect(!whole.isWaiting)
    var pieces = KeyDecoder()
    #expect(text.utf8.flatMap { pieces.feed([$0]) } == keys)
  }

  @Test func `a single escape byte waits and becomes the escape key if nothing follows`() {
    var decoder = KeyDecoder()
    #expect(decoder.feed([0x1b]).isEmpty)
    #expect(decoder.isWaiting)
    #expect(decoder.flush() == [.escape])
    #expect(!decoder.isWaiting)
  }

  @Test func `random bytes never block the decoder or make it grow`() {
    var decoder = KeyDecoder()
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      _ = decoder.feed([UInt8.random(in: 0...255, using: &generator)])
      if Int.random(in: 0..<50) == 0 { _ = decoder.flush() }
    }
    _ = decoder.flush()
    #expect(decoder.feed("\u{1b}[".utf8).isEmpty)
    #expect(decoder.feed([UInt8](repeating: 0x30, count: 100)).isEmpty)
    #expect(decoder.feed("q".utf8) == [.character("q")])
    #expect(decoder.feed([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x71]).last == .character("q"))
  }
}
