import CommandKit
import RegentJSON
import RegentPairing
import RegentPlatform
import QRCode
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite(.serialized) struct `The pairing screen in a real terminal` {
  @Test(arguments: sizes)
  func `the screen goes from the code to signed in`(size: WindowSize) async throws {
    let service = try await BoxService { $0.numberMatching = true }
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let terminal = try Terminal(box, "pair --product 'Sport TV'", size)
      _ = try await terminal.shows("Waiting for your phone")
      let link = try photograph(terminal, size)
      let wire = String(link.suffix(17).prefix(8))
      #expect(link.hasPrefix("HTTP://127.0.0.1:\(service.port)/D/\(wire)."))

      let number = try #require(try await service.open(wire))
      _ = try await terminal.shows("Type this number on the phone")
      #expect((10...99).contains(number))
      try await service.service.approve(wire)
      _ = try await terminal.shows("You are signed in")
      try terminal.press("q")
      _ = try await terminal.shows("exit=0")
      let end = try await terminal.shows("icanon")
      #expect(end.contains("You are signed in"), "one line stays when the screen is gone")
      #expect(end.contains("icanon") && !end.contains("-icanon") && !end.contains("-echo"))
    }
  }

  @Test func `pair on a signed-in box says so and how to sign in again`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let first = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { first.poll() } == 0)

      let terminal = try Terminal(box, "pair", sizes[0])
      let end = try await terminal.shows("exit=0")
      #expect(end.contains("This device is already signed in."))
      #expect(end.contains("with Sample TV"))
      #expect(end.contains("regent pair --force"))
      let lines = try await box.run(["pair"])
      #expect(lines.status == 0)
      #expect(lines.outputText.contains("already signed in") && lines.errorText.isEmpty)
      let launched = try await box.run(["pair", "--json"])
      #expect(launched.status == 0)
      #expect(
        launched.outputText == "{\"event\":\"authenticated\",\"provider\":\"Sample TV\"}\n")

      let forced = try box.start(["pair", "--json", "--force"], output: "forced")
      let anew = try #require(try await box.event("code", in: "forced")["code"]?.string)
      #expect(try await box.run(["status"]).status == 0, "until then the box stays signed in")
      try await service.service.approve(anew)
      #expect(try await eventually("the end") { forced.poll() } == 0)
      #expect(try await box.run(["status"]).status == 0)
    }
  }

  @Test func `the screen follows the window's size and restores the terminal`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let terminal = try Terminal(try Box(folder, service.url), "pair", sizes[0])
      _ = try await terminal.shows("Waiting for your phone")
      let link = try photograph(terminal, sizes[0])
      for size in [sizes[2], sizes[1], sizes[0]] {
        try terminal.resize(size)
        _ = try await eventually("the code at \(size)") {
          try? photograph(terminal, size) == link ? true : nil
        }
      }
      try terminal.press("n")
      let other = try await eventually("another code") { () -> String? in
        guard let now = try? photograph(terminal, sizes[0]), now != link else { return nil }
        return now
      }
      #expect(other.hasPrefix("HTTP://127.0.0.1:\(service.port)/D/"))
      try terminal.press("q")
      _ = try await terminal.shows("exit=3")
      #expect(try await !terminal.shows("icanon").contains("-icanon"))
      let taken = try service.isWithdrawn(String(other.suffix(17).prefix(8)))
      #expect(taken, "quitting takes the code back")
    }
  }

  @Test func `after a denial the screen offers another code and a choice of provider`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url, more: ["REGENT_LANGUAGE": "ko"])
      let terminal = try Terminal(box, "pair", sizes[0])
      _ = try await terminal.shows("휴대전화를 기다리고 있습니다")
      let link = try photograph(terminal, sizes[0])
      try await service.service.deny(String(link.suffix(17).prefix(8)))
      _ = try await terminal.shows("휴대전화에서 거부되었습니다")
      try terminal.press("p")
      _ = try await terminal.shows("제공업체를 선택해 주세요")
      try terminal.press("s", "a", "m")
      _ = try await terminal.shows("› Sample TV")
      try terminal.press("Enter")
      _ = try await terminal.shows("휴대전화를 기다리고 있습니다")
      let next = try photograph(terminal, sizes[0])
      #expect(next != link)
      try terminal.press("C-c")
      _ = try await terminal.shows("exit=3")
    }
  }

  @Test func `the screen reports an expired code, and an unattended one replaces it`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let terminal = try Terminal(box, "pair --lifetime 3s", sizes[0])
      _ = try await terminal.shows("This code has expired.")
      try terminal.press("q")
      _ = try await terminal.shows("exit=5")
    }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let terminal = try Terminal(box, "pair --unattended --lifetime 3s", sizes[2])
      func code() throws -> String? {
        try terminal.capture().firstMatch(of: /([A-Z] ){4}- ([A-Z] ?){4}/).map {
          String($0.output.0)
        }
      }
      let first = try await eventually("a code") { try code() }
      _ = try await eventually("another code") { try code().flatMap { $0 == first ? nil : $0 } }
      try terminal.press("q")
      _ = try await terminal.shows("exit=")
    }
  }

  @Test func `the screen reports a lost connection and keeps the code`() async throws {
    let service = try await BoxService()
    try await withTemporaryFolder { folder in
      let terminal = try Terminal(try Box(folder, service.url), "pair", sizes[0])
      _ = try await terminal.shows("Waiting for your phone")
      let link = try photograph(terminal, sizes[0])
      service.stop()
      _ = try await terminal.shows("No connection to 127.0.0.1")
      #expect(try photograph(terminal, sizes[0]) == link)
    }
  }

  @Test(arguments: sizes)
  func `a real terminal shows every state of the screen as the program drew it`(size: WindowSize) async throws {
    try await withTemporaryFolder { folder in
      let terminal = try Terminal(folder, "sleep 600", size)
      let device = try await terminal.device()
      let screen = PairScreen(size: size, capabilities: TerminalCapabilities(), language: .korean)
      var old: Canvas?
      for scene in Scene.all {
        let canvas = screen.canvas(of: scene.view, now: Scene.now)
        let bytes = ScreenDiff.bytes(from: old, to: canvas, depth: .palette)
        let greeting = old == nil ? ScreenSurface.greeting : []
        old = canvas
        try FileDescriptor.open(device, 1).writeAll(greeting + bytes)
        var seen: [String] = []
        _ = try? await eventually("\(scene.name) on the terminal") {
          seen = try terminal.lines(size)
          return seen == canvas.lines
        }
        #expect(seen == canvas.lines, "\(scene.name)")
      }
    }
  }

  /// Reads the QR code from the terminal's screen, with a dark and with a light theme.
  private func photograph(_ terminal: Terminal, _ size: WindowSize) throws -> String {
    let glass = try TerminalEmulator(size, captured: try terminal.capture(colours: true))
    let dark = try decode(glass.picture(on: .dark).png())
    #expect(try decode(glass.picture(on: .light).png()) == dark)
    return dark
  }
}
