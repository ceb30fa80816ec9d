// PlatformProbe: a program for RegentPlatformTests. Each argument runs something that a test can observe only in a
// process of its own, and prints the result.

import Glibc
import RegentPlatform

func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = unsafe write(1, bytes, bytes.count)
}

func text(of path: String) throws -> String {
  String(decoding: try FileDescriptor.open(path, O_RDONLY).read(atMost: 65_536), as: UTF8.self)
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "signals":
  // Prints "ready" at once and listens later: signals that arrive between must not be lost.
  let held = HeldSignals([.terminate, .hangUp, .user1])
  say("ready")
  usleep(100_000)
  let listener = try SignalListener(held) { signal in
    say("heard \(signal.number)")
    if signal == .terminate { exit(0) }
  }
  withExtendedLifetime(listener) { while true { pause() } }

case "terminal":
  // terminal DEVICE ENDING: changes the terminal's mode and ends as ENDING says.
  let device = try FileDescriptor.open(arguments.dropFirst().first ?? "/dev/tty", O_RDWR)
  let session = try TerminalSession(
    on: device.number, mode: .raw, greeting: Array("<in>".utf8), farewell: Array("<out>".utf8))
  say("ready")
  switch arguments.last {
  case "return": break
  case "exit": exit(7)
  case "trap": _ = [0, 1].dropFirst(arguments.count)[9]
  case "abort": abort()
  default: while pause() == -1 {}
  }
  session.end()

case "harden":
  try ProcessHardening.apply()
  try ProcessHardening.refuseNewPrivileges()
  let status = try text(of: "/proc/self/status")
  for line in status.split(separator: "\n") where line.hasPrefix("NoNewPrivs") { say(String(line)) }
  let limits = try text(of: "/proc/self/limits")
  for line in limits.split(separator: "\n") where line.hasPrefix("Max core") { say(String(line)) }
  say("mask \(String(umask(0), radix: 8))")
  say("dumps \(ProcessHardening.allowsDumps ? "allowed" : "forbidden")")

case "tasks":
  TaskThreads.takeOver()
  Task.detached {
    await tryTasks()
    exit(0)
  }
  while true { pause() }

default:
  say("usage: PlatformProbe signals | terminal DEVICE ENDING | harden | tasks")
  exit(2)
}
