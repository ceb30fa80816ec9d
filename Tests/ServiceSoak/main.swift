// ServiceSoak: proves that what the service has acknowledged survives kill -9. It drives a real regentd as boxes and an
// operator do, kills it in the middle of that, starts it again and asks for everything that it had promised.
// `--lose-log` removes SQLite's log after each kill, which breaks the promise: then it must report a loss, or it proves
// nothing. `--backup` takes a backup under the same load instead, restores it elsewhere and looks there; `--late`
// expects in it what was promised after it was made.

internal import Glibc
internal import TestSupport

let arguments = Array(CommandLine.arguments.dropFirst())

func say(_ sentence: String) {
  let bytes = Array("\(sentence)\n".utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

func option(_ name: String) -> String? {
  guard let position = arguments.firstIndex(of: name), position + 1 < arguments.count else {
    return nil
  }
  return arguments[position + 1]
}

guard !arguments.contains("--help") else {
  say("usage: ServiceSoak [--cycles N] [--lose-log] | --backup [--late]")
  say(
    "exit codes: 0 nothing lost, 1 an acknowledged change was lost or made twice, 3 it could not run"
  )
  exit(0)
}
do {
  if arguments.contains("--backup") {
    exit(try await BackupUnderLoad(expectsTooMuch: arguments.contains("--late")).run() ? 0 : 1)
  }
  let soak = ServiceSoak(
    cycles: option("--cycles").flatMap(Int.init) ?? 1_000,
    losesLog: arguments.contains("--lose-log"))
  exit(try await soak.run() ? 0 : 1)
} catch {
  say("ServiceSoak: \(error)")
  exit(3)
}
