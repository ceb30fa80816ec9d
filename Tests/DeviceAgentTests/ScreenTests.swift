import CommandKit
import RegentPlatform
import QRCode
import TestSupport
import Testing

@testable import DeviceAgent

private let glyphKinds: [(DotGlyphs, ColourDepth, Bool)] = [
  (.halfBlocks, .palette, true), (.halfBlocks, .eight, true), (.fullBlocks, .eight, true),
  (.fullBlocks, .palette, false), (.ascii, .eight, false),
]

private let links = [
  "HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK.7QK2M9XA", "HTTP://192.168.178.20:8787/D/ZXWVTSRQ.ZYXW0123",
  "https://accounts.television.example.org/pairing/D/BCDFGHJK.7QK2M9XA",
]

@Suite struct `The pairing screen` {
  @Test(arguments: Scene.all, sizes)
  func `every state fits into every window size`(scene: Scene, size: WindowSize) {
    for language in Language.allCases {
      for (glyphs, _, isUnicode) in glyphKinds where isUnicode || language == .spanish {
        let capabilities = TerminalCapabilities(
          glyphs: glyphs, isUnicode: isUnicode, hasHangul: isUnicode)
        let screen = PairScreen(size: size, capabilities: capabilities, language: language)
        let canvas = screen.canvas(of: scene.view, now: Scene.now)
        #expect(canvas.lines.allSatisfy { displayWidth($0) <= size.columns })
        #expect(canvas.lines.contains { !$0.isEmpty })
        if !isUnicode {
          #expect(canvas.cells.allSatisfy { ($0.glyph?.value ?? 0) < 0x80 && $0.marks.isEmpty })
        }
      }
    }
  }

  @Test(arguments: links, sizes)
  func `the screen shows a QR code that a scanner can read, with a dark and a light theme`(
    link: String, size: WindowSize
  ) throws {
    // A long URL in lower case does not fit into the smallest window.
    if link == links[2], size == sizes[2] { return }
    let screen = PairScreen(size: size, capabilities: TerminalCapabilities(), language: .english)
    let view = Scene.view(.waiting(Scene.code(link: link)))
    let bytes = ScreenDiff.bytes(
      from: nil, to: screen.canvas(of: view, now: Scene.now), depth: .palette)
    for ground in Ground.allCases {
      var glass = TerminalEmulator(size)
      try glass.show(bytes)
      #expect(try decode(glass.picture(on: ground).png()) == link)
    }
  }

  @Test(arguments: glyphKinds.indices, Ground.allCases)
  func `the QR code is readable in half blocks, full blocks and ASCII`(kind: Int, ground: Ground) throws {
    let (glyphs, depth, isUnicode) = glyphKinds[kind]
    let size = WindowSize(rows: 50, columns: 132)
    let screen = PairScreen(
      size: size, capabilities: TerminalCapabilities(glyphs: glyphs, depth: depth, isUnicode: isUnicode),
      language: .spanish)
    let bytes = ScreenDiff.bytes(
      from: nil, to: screen.canvas(of: Scene.waiting.view, now: Scene.now), depth: depth)
    var glass = TerminalEmulator(size)
    try glass.show(bytes)
    #expect(try decode(glass.picture(on: ground).png()) == Scene.link)
  }

  @Test(arguments: [DotGlyphs.fullBlocks, .ascii])
  func `without room for the QR code the screen names the framebuffer option and shows the code large`(
    glyphs: DotGlyphs
  ) {
    let screen = PairScreen(
      size: WindowSize(rows: 25, columns: 80), capabilities: TerminalCapabilities(glyphs: glyphs),
      language: .english)
    let canvas = screen.canvas(of: Scene.waiting.view, now: Scene.now)
    #expect(canvas.lines.contains { $0.contains(Texts(.english)[.noRoomForCode]) })
    #expect(canvas.lines.contains { $0.contains("tv.example.org") })
    let inked = canvas.cells.count { $0.style.isReversed || $0.glyph == "#" }
    #expect(inked > 200, "the code is written in dots")
  }

  @Test(
    arguments: [DotGlyphs.fullBlocks, .ascii],
    ["tv.example.org", "192.168.178.20:8787"])
  func `on a console without half blocks and without a framebuffer the address is five rows high`(
    glyphs: DotGlyphs, address: String
  ) throws {
    for language in Language.allCases {
      let screen = PairScreen(
        size: WindowSize(rows: 25, columns: 80), capabilities: TerminalCapabilities(glyphs: glyphs), language: language)
      let canvas = screen.canvas(of: Scene.view(.waiting(Scene.code(address: address))), now: Scene.now)
      let drawn = (0..<canvas.rows).map { row in
        (0..<canvas.columns).map { canvas[row, $0].style.isReversed || canvas[row, $0].glyph == "#" }
      }
      // The code has seven rows, and each line of the address five. The reversed key labels are in `drawn`, too.
      let lines = try #require(AddressFont.lines(of: address, width: 76))
      let text = canvas.lines.joined(separator: "\n")
      #expect(drawn.dropLast().count { $0.contains(true) } >= 7 + 5 * lines.count, "\(text)")
      for line in lines { #expect(Self.contains(drawn, line.rows), "\(text)") }
      #expect(canvas.lines.contains { $0.contains(address) }, "screen readers need it as text")
    }
  }

  @Test func `an address with a path or too long for two lines is not drawn in capital letters`() {
    #expect(AddressFont.lines(of: "tv.example.org/tv", width: 76) == nil)
    #expect(AddressFont.lines(of: String(repeating: "long.", count: 20), width: 76) == nil)
    #expect(AddressFont.lines(of: String(repeating: "a", count: 30), width: 76) == nil)
    #expect(AddressFont.lines(of: "abcdefghijkl.nopqrstuvwxyz:80", width: 76)?.count == 2)
  }

  /// Whether the dots are somewhere on the screen.
  private static func contains(_ screen: [[Bool]], _ rows: [[Bool]]) -> Bool {
    (0...screen.count - rows.count).contains { top in
      (0...screen[0].count - rows[0].count).contains { left in
        rows.indices.allSatisfy { Array(screen[top + $0][left..<left + rows[$0].count]) == rows[$0] }
      }
    }
  }

  @Test func `on a small console without half blocks the QR code is drawn in the framebuffer`() {
    let font = LinuxConsole(isUnicode: true, characters: [0x2588])
    let small = WindowSize(rows: 25, columns: 80)
    let console = TerminalFacts(type: "linux", locale: "C.UTF-8", console: font)
    #expect(console.needsFramebuffer(small, isNamed: false))
    #expect(!console.needsFramebuffer(WindowSize(rows: 67, columns: 240), isNamed: false))
    let full = LinuxConsole(isUnicode: true, characters: [0x2580, 0x2584, 0x2588])
    #expect(!TerminalFacts(type: "linux", locale: "C.UTF-8", console: full).needsFramebuffer(small, isNamed: false))
    // A remote session: the framebuffer would be another screen.
    let remote = TerminalFacts(type: "linux", locale: "C.UTF-8")
    #expect(!remote.needsFramebuffer(small, isNamed: false))
    #expect(remote.needsFramebuffer(small, isNamed: true))
  }

  @Test(arguments: sizes, Language.allCases)
  func `the screen always has the code and the address as plain text`(size: WindowSize, language: Language) {
    for stage in [PairStage.waiting(Scene.code()), .connected(Scene.code())] {
      let screen = PairScreen(size: size, capabilities: TerminalCapabilities(), language: language)
      let text = screen.canvas(of: Scene.view(stage), now: Scene.now).lines.joined(separator: "\n")
      #expect(text.contains("BCDF-GHJK") || text.contains("B C D F - G H J K"))
      #expect(text.contains("tv.example.org"))
    }
  }

  @Test(arguments: Language.allCases, [10, 24, 40, 60, 80])
  func `every screen names the key that ends the program`(language: Language, columns: Int) {
    let screen = PairScreen(
      size: WindowSize(rows: 20, columns: columns), capabilities: TerminalCapabilities(), language: language)
    for (stage, key, phrase) in [
      (PairStage.waiting(Scene.code()), "q", Phrase.keyQuit), (.expired, "q", .keyQuit),
      (.choosing(ProviderPicker(Scene.providers)), "Esc", .keyBack),
    ] {
      let keys = screen.canvas(of: Scene.view(stage), now: Scene.now).lines.last ?? ""
      #expect(keys.contains(" \(key) "), "\(keys)")
      if columns >= 24 { #expect(keys.contains(Texts(language)[phrase]), "\(keys)") }
    }
  }

  @Test func `the screen offers another provider only when there is more than one`() {
    for count in 1...2 {
      var model = PairModel(mode: .attended)
      _ = model.start(now: 0)
      _ = model.handle(.link(.providers(Array(Scene.providers.prefix(count)), last: nil)), now: 0)
      _ = model.handle(.link(.code(Scene.code())), now: 0)
      let screen = PairScreen(
        size: WindowSize(rows: 25, columns: 80), capabilities: TerminalCapabilities(), language: .english)
      let keys = screen.canvas(of: model.view, now: Scene.now).lines.last ?? ""
      #expect(keys.contains("provider") == (count > 1))
    }
  }

  @Test(arguments: [PairMode.attended, .unattended], sizes)
  func `the screen shows the hint for a refusal`(mode: PairMode, size: WindowSize) {
    var model = PairModel(mode: mode)
    _ = model.start(now: 0)
    let failure = AgentFailure(
      code: "not-trusted", message: "no", hint: "check --secret-file", trouble: .refused)
    _ = model.handle(.link(.failed(failure)), now: 1)
    let screen = PairScreen(size: size, capabilities: TerminalCapabilities(), language: .english)
    let text = screen.canvas(of: model.view, now: Scene.now).lines.joined(separator: "\n")
    #expect(text.contains("does not accept"))
    #expect(text.contains("check --secret-file"))
  }

  @Test(arguments: Language.allCases)
  func `the screen says that the service is busy and for how long`(language: Language) {
    let screen = PairScreen(
      size: WindowSize(rows: 25, columns: 80), capabilities: TerminalCapabilities(), language: language)
    let view = Scene.view(.waiting(Scene.code()), trouble: .busy(seconds: 30))
    let text = screen.canvas(of: view, now: Scene.now).lines.joined(separator: "\n")
    #expect(text.contains("30"))
    #expect(text.contains(Texts(language)[.codeStays]))
  }

  @Test func `the cursor stays on the status line for screen readers`() {
    let screen = PairScreen(
      size: WindowSize(rows: 25, columns: 80), capabilities: TerminalCapabilities(), language: .english)
    let canvas = screen.canvas(of: Scene.waiting.view, now: Scene.now)
    #expect(canvas.text(row: canvas.cursor.row).contains("Code BCDF-GHJK, address tv.example.org"))
  }

  @Test(arguments: [1, 2, 3, 6, 12])
  func `the screen can be drawn in windows of any size`(edge: Int) {
    for columns in [1, 2, 11, 39, 200] {
      let screen = PairScreen(
        size: WindowSize(rows: edge, columns: columns), capabilities: TerminalCapabilities(), language: .korean)
      for scene in Scene.all {
        let canvas = screen.canvas(of: scene.view, now: Scene.now)
        #expect(canvas.columns == columns && canvas.rows == edge)
        #expect(
          (0..<edge).contains(canvas.cursor.row) && (0..<columns).contains(canvas.cursor.column))
      }
    }
  }

  @Test func `control characters in names are shown, not obeyed`() throws {
    let name = "\u{1b}[2JHa\u{202e}cked\n"
    let view = Scene.view(.signedIn(name: name, provider: name))
    let screen = PairScreen(
      size: WindowSize(rows: 25, columns: 80), capabilities: TerminalCapabilities(), language: .english)
    let bytes = ScreenDiff.bytes(
      from: nil, to: screen.canvas(of: view, now: Scene.now), depth: .palette)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(!text.dropFirst(8).contains("\u{1b}[2J") && !text.contains("\u{202e}"))
    #expect(text.contains(#"\e[2JHa"#))
  }

  @Test func `the bar shrinks with the remaining time, and the last minute is named`() {
    let screen = PairScreen(
      size: WindowSize(rows: 25, columns: 80), capabilities: TerminalCapabilities(), language: .english)
    let code = Scene.code(minutesLeft: 12)
    func bar(_ later: Int64) -> Int {
      screen.canvas(of: Scene.view(.waiting(code)), now: Scene.now + later).cells
        .count { $0.glyph == "░" }
    }
    #expect(bar(0) < bar(300_000))
    #expect(bar(300_000) < bar(600_000))
    let end = screen.canvas(of: Scene.view(.waiting(code)), now: Scene.now + 680_000).lines
    #expect(end.contains { $0.contains("less than a minute left") })
  }
}

@Suite struct `Updates of the terminal` {
  private let screen = PairScreen(
    size: WindowSize(rows: 25, columns: 80), capabilities: TerminalCapabilities(), language: .korean)

  @Test func `an unchanged screen writes nothing`() {
    let canvas = screen.canvas(of: Scene.waiting.view, now: Scene.now)
    #expect(ScreenDiff.bytes(from: canvas, to: canvas, depth: .palette).isEmpty)
  }

  @Test func `only the time bar is redrawn when time passes`() {
    let old = screen.canvas(of: Scene.waiting.view, now: Scene.now)
    let new = screen.canvas(of: Scene.waiting.view, now: Scene.now + 120_000)
    let bytes = ScreenDiff.bytes(from: old, to: new, depth: .palette)
    #expect(!bytes.isEmpty && bytes.count < 120)
    #expect(!String(decoding: bytes, as: UTF8.self).contains("[2J"))
  }

  @Test(arguments: Scene.all, Scene.all)
  func `an update turns any screen into any other`(old: Scene, new: Scene) throws {
    let before = screen.canvas(of: old.view, now: Scene.now)
    let after = screen.canvas(of: new.view, now: Scene.now)
    var glass = TerminalEmulator(screen.size)
    try glass.show(ScreenDiff.bytes(from: nil, to: before, depth: .palette))
    try glass.show(ScreenDiff.bytes(from: before, to: after, depth: .palette))
    var fresh = TerminalEmulator(screen.size)
    try fresh.show(ScreenDiff.bytes(from: nil, to: after, depth: .palette))
    #expect(glass.lines == after.lines)
    #expect(glass.shows(sameAs: fresh))
  }
}
