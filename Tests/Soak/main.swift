// Soak: proves that an acknowledged write survives. `kill` kills a writing process again and again; `power` cuts the
// power of a simulated disk. Each has a switch that puts a faulty disk below SQLite: then the run must report a loss,
// or the check would be worthless.

internal import Glibc
internal import SQLite

let arguments = Array(CommandLine.arguments.dropFirst())

func option(_ name: String) -> String? {
  guard let position = arguments.firstIndex(of: name), position + 1 < arguments.count else {
    return nil
  }
  return arguments[position + 1]
}

func say(_ sentence: String) {
  let bytes = Array("\(sentence)\n".utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

do {
  let cycles = option("--cycles").flatMap(Int.init) ?? 1_000
  switch arguments.first {
  case "kill":
    let losses = try KillSoak(
      cycles: cycles, lateLog: arguments.contains("--late-log")
    ).run()
    exit(losses == 0 ? 0 : 1)
  case "power":
    let losses = try await PowerSoak(
      cycles: cycles, lyingDisk: arguments.contains("--lying-disk")
    ).run()
    exit(losses == 0 ? 0 : 1)
  case "child":
    guard let path = option("--database"), let first = option("--first").flatMap(Int.init) else {
      break
    }
    try await writeForEver(
      path: path, first: first, lateLog: arguments.contains("--late-log"))
  default: break
  }
  say("usage: Soak kill|power [--cycles N] [--late-log] [--lying-disk]")
  say(
    "exit codes: 0 nothing lost, 1 an acknowledged write was lost or the file is damaged, 2 usage, 3 it could not run"
  )
  exit(2)
} catch {
  say("Soak: \(error)")
  exit(3)
}
