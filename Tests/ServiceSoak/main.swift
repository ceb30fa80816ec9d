// ServiceSoak: proves that everything the service has acknowledged survives kill -9. It drives a real regentd as boxes
// and an operator do, kills it under load, starts it again and asks for everything that was acknowledged. `--lose-log`
// removes SQLite's write-ahead log after each kill; then it must report a loss, or it proves nothing. `--backup`
// instead takes a backup under the same load, restores it elsewhere and checks the copy. With `--late` it also expects
// what was acknowledged after the backup, which must be reported as lost.

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
