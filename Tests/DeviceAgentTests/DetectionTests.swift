import CommandKit
import RegentPlatform
import Testing

@testable import DeviceAgent

private let allBlocks = Set("█▀▄".unicodeScalars.map { UInt16($0.value) })
private let fullOnly = Set("█".unicodeScalars.map { UInt16($0.value) })

@Suite struct `Terminal detection` {
  @Test(arguments: [
    (TerminalFacts(type: "xterm-256color", locale: "en_GB.UTF-8"), DotGlyphs.halfBlocks, true),
    (TerminalFacts(type: "xterm-256color", locale: "en_GB.utf8"), .halfBlocks, true),
    (TerminalFacts(type: "xterm", locale: "C"), .fullBlocks, false),
    (TerminalFacts(type: "xterm", locale: nil), .fullBlocks, false),
    // The kernel's console: its mode and font decide.
    (
      TerminalFacts(
        type: "linux", locale: "C.UTF-8",
        console: LinuxConsole(isUnicode: true, characters: fullOnly)), .fullBlocks, true
    ),
    (
      TerminalFacts(
        type: "linux", locale: "C.UTF-8",
        console: LinuxConsole(isUnicode: true, characters: allBlocks)), .halfBlocks, true
    ),
    (
      TerminalFacts(
        type: "linux", locale: "C.UTF-8",
        console: LinuxConsole(isUnicode: false, characters: allBlocks)), .fullBlocks, false
    ),
    // A console at the other end of a connection, which cannot be queried.
    (TerminalFacts(type: "linux", locale: "C.UTF-8"), .fullBlocks, true),
  ])
  func `a terminal gets the characters that it can show`(
    facts: TerminalFacts, glyphs: DotGlyphs, isUnicode: Bool
  ) {
    #expect(facts.capabilities.glyphs == glyphs)
    #expect(facts.capabilities.isUnicode == isUnicode)
  }

  @Test(
    arguments: [
      ("xterm-256color", nil, ColourDepth.palette), ("tmux-256color", nil, .palette),
      ("xterm", "truecolor", .palette), ("vt220", nil, .eight), ("xterm-kitty", nil, .palette),
      ("vt52", nil, .none), ("linux-m", nil, .none),
    ] as [(String, String?, ColourDepth)])
  func `a terminal gets the colours that it supports`(type: String, colourTerm: String?, depth: ColourDepth) {
    let facts = TerminalFacts(type: type, colourTerm: colourTerm, locale: "C.UTF-8")
    #expect(facts.capabilities.depth == depth)
  }

  @Test(arguments: [("dumb", false), ("xterm", true), ("unknown", false)])
  func `the screen is drawn only where the cursor can move`(type: String, expected: Bool) {
    #expect(TerminalFacts(type: type).canBeDrawnOn == expected)
  }

  @Test func `an explicit choice of characters overrides detection`() {
    let facts = TerminalFacts(type: "linux", locale: "C")
    #expect(facts.capabilities(asked: .half).glyphs == .halfBlocks)
    #expect(facts.capabilities(asked: .ascii).glyphs == .ascii)
  }

  @Test func `NO_COLOR removes colours but keeps the QR code's black and white`() throws {
    let facts = TerminalFacts(type: "xterm-256color", locale: "C.UTF-8", refusesColours: true)
    for scene in Scene.all {
      let screen = PairScreen(
        size: WindowSize(rows: 25, columns: 80), capabilities: facts.capabilities, language: .english)
      let canvas = screen.canvas(of: scene.view, now: Scene.now)
      let bytes = ScreenDiff.bytes(from: nil, to: canvas, depth: facts.capabilities.depth)
      let written = String(decoding: bytes, as: UTF8.self)
      #expect(!written.contains(/;3[1-6][;m]/), "\(scene.name)")
      if case .waiting = scene.view.stage, scene.view.picture == .characters {
        #expect(written.contains("48;5;231"), "\(scene.name)")
      }
    }
    #expect(TerminalFacts(of: 9_999, Environment(["NO_COLOR": "1"])).refusesColours)
    #expect(!TerminalFacts(of: 9_999, Environment(["NO_COLOR": ""])).refusesColours)
  }

  @Test func `a terminal without Hangul shows English instead of Korean`() {
    let capabilities = TerminalCapabilities(hasHangul: false)
    #expect(capabilities.shown(.korean) == .english)
    #expect(capabilities.shown(.spanish) == .spanish)
  }

  @Test func `a descriptor of another file is not mistaken for a Linux console`() {
    #expect(LinuxConsole(of: 0) == nil || LinuxConsole(of: 0)?.characters.isEmpty == false)
  }
}
