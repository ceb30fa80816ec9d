import RegentPlatform
import TestSupport

@testable import DeviceAgent

/// Runs `regent` in a tmux session of its own.
final class Terminal {
  private let server: String
  private let folder: String

  convenience init(_ box: Box, _ arguments: String, _ size: WindowSize) throws {
    let line =
      "\(Self.environment(of: box)) \(try builtProgram("regent")) \(arguments);"
      + " echo \"exit=$?\"; stty -a | grep -o -- '-*icanon\\|-*echo ' ; sleep 60"
    try self.init(box.folder, line, size)
  }

  /// A shell with job control, where `pair` runs the program; the prompt is `here>`.
  convenience init(shell: String, of box: Box, _ size: WindowSize) throws {
    let program = "\(box.folder)/pair"
    let script = "echo $$ >\(box.folder)/pid; exec \(try builtProgram("regent")) pair"
    try writeFile(program, "#!/bin/sh\n\(script)\n".utf8, mode: 0o755)
    try self.init(
      box.folder,
      "\(Self.environment(of: box)) PS1='here> ' PATH=\(box.folder):/usr/bin:/bin"
        + " \(shell)", size)
  }

  private static func environment(of box: Box) -> String {
    let variables = box.environment.merging(inheritedSettings) { mine, _ in mine }
      .map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
    return "env -i TERM=tmux-256color \(variables)"
  }

  init(_ folder: String, _ command: String, _ size: WindowSize) throws {
    self.folder = folder
    server = "regent-test-\(folder.split(separator: "-").last ?? "x")"
    _ = try tmux([
      "-f", "/dev/null", "new-session", "-d", "-x", String(size.columns), "-y", String(size.rows),
      command,
    ])
  }

  /// Waits for the path of the terminal device.
  func device() async throws -> String {
    try await eventually("the terminal") {
      let path = try tmux(["display-message", "-p", "#{pane_tty}"]).dropLast()
      return path.hasPrefix("/dev/") ? String(path) : nil
    }
  }

  /// The text of each line.
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

  /// Types a line into the shell.
  func type(_ line: String) throws { _ = try tmux(["send-keys", line, "Enter"]) }

  func resize(_ size: WindowSize) throws {
    _ = try tmux(["resize-window", "-x", String(size.columns), "-y", String(size.rows)])
  }

  /// Waits until the screen shows this text.
  func shows(_ text: String) async throws -> String {
    var last = ""
    do {
      return try await eventually("\"\(text)\" on the screen") {
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
