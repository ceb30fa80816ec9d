import Glibc
import PairingService
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite(.serialized) struct `The pairing screen under job control` {
  private let waiting = "Waiting for your phone"

  @Test func `the screen is drawn again after Ctrl-Z and fg`() async throws {
    try await withShell { terminal, _ in
      let before = try await terminal.shows(waiting)
      try terminal.press("C-z")
      _ = try await terminal.shows("Stopped")
      #expect(try !terminal.capture().contains(waiting), "the shell's own screen is back")
      try terminal.type("stty -a | grep -o -- '-*icanon\\|-*echo '; fg")
      #expect(try await drawn(terminal) == code(in: before))
      try terminal.press("q")
      let end = try await terminal.shows("here>")
      #expect(end.contains("icanon") && !end.contains("-icanon") && !end.contains("-echo"))
    }
  }

  @Test func `the screen is drawn again after SIGSTOP and fg`() async throws {
    try await withShell { terminal, pid in
      let before = try await terminal.shows(waiting)
      kill(try pid(), SIGSTOP)
      _ = try await terminal.shows("Stopped")
      try terminal.type("clear; fg")
      #expect(try await drawn(terminal) == code(in: before))
      try terminal.press("q")
      _ = try await terminal.shows("here>")
    }
  }

  /// dash, the second shell, does not restore the terminal's mode itself.
  @Test(arguments: [SIGSTOP, SIGTSTP], ["bash --norc --noprofile -i", "dash -i"])
  func `the program in the background draws nothing and ends at SIGTERM`(
    stop: Int32, shell: String
  ) async throws {
    try await withShell(shell) { terminal, pid in
      _ = try await terminal.shows(waiting)
      kill(try pid(), stop)
      _ = try await terminal.shows("Stopped")
      try terminal.type("clear; bg")
      try await eventually("it goes on") {
        !String(decoding: try readFile("/proc/\(try pid())/stat"), as: UTF8.self).contains(") T ")
      }
      try terminal.type("kill -WINCH %1; echo one; sleep 2; echo two")
      #expect(try await !terminal.shows("two").contains(waiting))
      try terminal.type("kill -TERM %1; wait %1; echo ended=$?")
      _ = try await terminal.shows("ended=3")
      try terminal.type("stty -a | grep -o -- '-*icanon\\|-*echo '")
      let end = try await terminal.shows("icanon")
      #expect(!end.contains("-icanon") && !end.contains("-echo"))
    }
  }

  @Test func `a stopped program ends at SIGTERM`() async throws {
    try await withShell { terminal, pid in
      _ = try await terminal.shows(waiting)
      try terminal.press("C-z")
      _ = try await terminal.shows("Stopped")
      // The shell continues a job that it kills. `wait` is not used, because the shell may still count the job as
      // stopped.
      try terminal.type("kill %1")
      let number = try pid()
      try await eventually("the end") { kill(number, 0) != 0 }
      try terminal.press("Enter")
      _ = try await terminal.shows("Exit 3")
    }
  }

  @Test func `the screen is drawn again when the program comes back to the foreground`()
    async throws
  {
    try await withShell { terminal, _ in
      let before = try await terminal.shows(waiting)
      try terminal.press("C-z")
      _ = try await terminal.shows("Stopped")
      try terminal.type("bg")
      _ = try await terminal.shows("pair &")
      try terminal.type("echo one")
      try terminal.type("fg")
      #expect(try await drawn(terminal) == code(in: before))
      try terminal.press("q")
      _ = try await terminal.shows("here>")
    }
  }

  @Test(arguments: ["pair &", "stty tostop; pair &"])
  func `a program started in the background ends at SIGTERM and draws when brought to the front`(
    command: String
  ) async throws {
    try await withServedShell("bash --norc --noprofile -i", typing: command) { terminal, pid, service in
      func waits(_ count: Int) async throws {
        try await eventually("\(count) boxes that wait") { service.service.core.waiters.count == count }
      }
      try await waits(1)
      let number = try pid()
      try terminal.type("kill -TERM %1; wait %1; echo ended=$?")
      _ = try await terminal.shows("ended=3")
      #expect(kill(number, 0) != 0)
      try await waits(0)
      try terminal.type("clear; \(command)")
      try await waits(1)
      #expect(try !terminal.capture().contains(waiting))
      try terminal.type("fg")
      #expect(try await drawn(terminal) != nil)
      try terminal.press("q")
      _ = try await terminal.shows("here>")
    }
  }

  /// The code on the screen after it was drawn again.
  private func drawn(_ terminal: Terminal) async throws -> String? {
    code(in: try await terminal.shows(waiting))
  }

  private func code(in screen: String) -> String? {
    screen.firstMatch(of: /Code ([A-Z]{4}-[A-Z]{4})/).map { String($0.output.1) }
  }

  private func withShell(
    _ shell: String = "bash --norc --noprofile -i", typing command: String = "pair",
    _ body: (Terminal, @escaping () throws -> Int32) async throws -> Void
  ) async throws {
    try await withServedShell(shell, typing: command) { terminal, process, _ in
      try await body(terminal, process)
    }
  }

  private func withServedShell(
    _ shell: String, typing command: String,
    _ body: (Terminal, @escaping () throws -> Int32, BoxService) async throws -> Void
  ) async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let terminal = try Terminal(shell: shell, of: try Box(folder, service.url), sizes[0])
      _ = try await terminal.shows("here>")
      try terminal.type(command)
      func pid() throws -> Int32 {
        let text = String(decoding: try readFile("\(folder)/pid"), as: UTF8.self).dropLast()
        guard let pid = Int32(text) else { throw TestSupportError("no process: \(text)") }
        return pid
      }
      try await body(terminal, pid, service)
    }
  }
}
