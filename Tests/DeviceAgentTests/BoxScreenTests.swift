import Pairing
import Platform
import QRCode
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

/// `regent` in a terminal of its own.
private final class Terminal {
  private let server: String
  private let folder: String

  convenience init(_ box: Box, _ arguments: String, _ size: WindowSize) throws {
    let variables = box.environment.merging(sanitizerSettings) { mine, _ in mine }
      .map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
    let line =
      "env -i TERM=tmux-256color \(variables) \(try builtProgram("regent")) \(arguments);"
      + " echo \"exit=$?\"; stty -a | grep -o -- '-*icanon\\|-*echo ' ; sleep 60"
    try self.init(box.folder, line, size)
  }

  init(_ folder: String, _ command: String, _ size: WindowSize) throws {
    self.folder = folder
    server = "regent-test-\(folder.split(separator: "-").last ?? "x")"
    _ = try tmux([
      "-f", "/dev/null", "new-session", "-d", "-x", String(size.columns), "-y", String(size.rows),
      command,
    ])
  }

  /// The path of the terminal itself, once it is there.
  func device() async throws -> String {
    try await until("the terminal") {
      let path = try tmux(["display-message", "-p", "#{pane_tty}"]).dropLast()
      return path.hasPrefix("/dev/") ? String(path) : nil
    }
  }

  /// What can be read, line by line.
  func lines(_ size: WindowSize) throws -> [String] {
    var lines = try capture().split(separator: "\n", omittingEmptySubsequences: false).map {
      var line = $0
      while line.last == " " { line.removeLast() }
      return String(line)
    }
    lines = Array(lines.prefix(size.rows))
    return lines + Array(repeating: "", count: size.rows - lines.count)
  }

  deinit { _ = try? tmux(["kill-server"]) }

  func capture(colours: Bool = false) throws -> String {
    try tmux(["capture-pane", "-p"] + (colours ? ["-e", "-N"] : []))
  }

  func press(_ keys: String...) throws { _ = try tmux(["send-keys"] + keys) }

  func resize(_ size: WindowSize) throws {
    _ = try tmux(["resize-window", "-x", String(size.columns), "-y", String(size.rows)])
  }

  /// Waits until the screen has that text.
  func shows(_ text: String) async throws -> String {
    var last = ""
    do {
      return try await until("\"\(text)\" on the screen") {
        last = try capture()
        return last.contains(text) ? last : nil
      }
    } catch {
      throw TestSupportError("\(error)\n\(last)")
    }
  }

  @discardableResult
  private func tmux(_ arguments: [String]) throws -> String {
    let result = try run(
      "tmux", ["-L", server, "-u"] + arguments,
      environment: [
        "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TMUX_TMPDIR": folder, "HOME": folder,
      ])
    guard result.status == 0 else { throw TestSupportError("tmux: \(result.errorText)") }
    return result.outputText
  }
}

@Suite(.serialized) struct `The screen in a real terminal` {
  @Test(arguments: sizes)
  func `goes from code to signed in`(size: WindowSize) async throws {
    let service = try await BoxService { $0.numberMatching = true }
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let terminal = try Terminal(box, "pair --product 'Sport TV'", size)
      _ = try await terminal.shows("Waiting for your phone")
      let link = try photograph(terminal, size)
      let wire = String(link.suffix(8))
      #expect(link == "HTTP://127.0.0.1:\(service.port)/D/\(wire)")

      let number = try #require(try await service.open(wire))
      _ = try await terminal.shows("Choose this number on the phone")
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

  @Test func `follows the window, and gives the terminal back`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let terminal = try Terminal(try Box(folder, service.url), "pair", sizes[0])
      _ = try await terminal.shows("Waiting for your phone")
      let link = try photograph(terminal, sizes[0])
      for size in [sizes[2], sizes[1], sizes[0]] {
        try terminal.resize(size)
        _ = try await until("the code at \(size)") {
          try? photograph(terminal, size) == link ? true : nil
        }
      }
      try terminal.press("n")
      let other = try await until("another code") { () -> String? in
        guard let now = try? photograph(terminal, sizes[0]), now != link else { return nil }
        return now
      }
      #expect(other.hasPrefix("HTTP://127.0.0.1:\(service.port)/D/"))
      try terminal.press("q")
      _ = try await terminal.shows("exit=3")
      #expect(try await !terminal.shows("icanon").contains("-icanon"))
      let taken = try service.isWithdrawn(String(other.suffix(8)))
      #expect(taken, "quitting takes the code back")
    }
  }

  @Test func `says no, offers another code, and lets a provider be chosen`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url, more: ["REGENT_LANGUAGE": "ko"])
      let terminal = try Terminal(box, "pair", sizes[0])
      _ = try await terminal.shows("휴대전화를 기다리고 있습니다")
      let link = try photograph(terminal, sizes[0])
      try await service.service.deny(String(link.suffix(8)))
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

  @Test func `says that a code has expired, and replaces it when nobody is there`() async throws {
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
      let first = try await until("a code") { try code() }
      _ = try await until("another code") { try code().flatMap { $0 == first ? nil : $0 } }
      try terminal.press("q")
      _ = try await terminal.shows("exit=")
    }
  }

  @Test func `is honest about a service that goes away, and the code stays`() async throws {
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
  func `shows every state as it was drawn`(size: WindowSize) async throws {
    try await withTemporaryFolder { folder in
      let terminal = try Terminal(folder, "sleep 600", size)
      let device = try await terminal.device()
      let screen = PairScreen(size: size, abilities: Abilities(), language: .korean)
      var old: Canvas?
      for scene in Scene.all {
        let canvas = screen.canvas(of: scene.view, now: Scene.now)
        let bytes = ScreenDiff.bytes(from: old, to: canvas, depth: .palette)
        let greeting = old == nil ? ScreenSurface.greeting : []
        old = canvas
        try FileDescriptor.open(device, 1).writeAll(greeting + bytes)
        var seen: [String] = []
        for _ in 0..<300 where seen != canvas.lines {
          try await Task.sleep(for: .milliseconds(10))
          seen = try terminal.lines(size)
        }
        #expect(seen == canvas.lines, "\(scene.name)")
      }
    }
  }

  /// Reads the QR code off the terminal, on dark and on light.
  private func photograph(_ terminal: Terminal, _ size: WindowSize) throws -> String {
    let glass = try Glass(size, captured: try terminal.capture(colours: true))
    let dark = try decode(glass.picture(on: .dark).png())
    #expect(try decode(glass.picture(on: .light).png()) == dark)
    return dark
  }
}
