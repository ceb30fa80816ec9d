// Benchmarks: `table` prints every row, `table --only NAME` those whose name contains NAME. The rows start the other
// verbs as servers, fillers and load generators.

internal import Glibc
internal import RegentPlatform

// As in `regentd`, so that the servers here cost what the service costs.
TaskThreads.takeOver(threads: TaskThreads.oneForEachCore)

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "table":
  let only = arguments.count > 2 && arguments[1] == "--only" ? arguments[2] : ""
  let all: [Row] = [
    engineRows(), pollRows(), waitingRows(), waveRows(), returnRows(), creationRows(), slowAttackRows(), attackRows(),
    durableInsertRows(), verifierRows(), commandRows(), boxRows(), enumerationRows(),
    oauthRows(),
  ].flatMap(\.self)
  let rows = all.filter { only.isEmpty || $0.name.contains(only) }
  guard !rows.isEmpty else {
    let names = all.map { "  \($0.name)\n" }.joined()
    note("Benchmarks: no row has “\(only)” in its name; there are\n\(names)")
    exit(2)
  }
  exit(runTable(rows) ? 0 : 1)
case "serve-static":
  exit(serveStatic(Array(arguments.dropFirst())))
case "fill-pairing":
  exit(fillPairing(Array(arguments.dropFirst())))
case "load-refreshes":
  exit(loadRefreshes(Array(arguments.dropFirst())))
case "serve-pairing":
  exit(servePairing(Array(arguments.dropFirst())))
case "fill-boxes":
  exit(fillBoxes(Array(arguments.dropFirst())))
case "serve-sign-in":
  exit(serveSignIn(Array(arguments.dropFirst())))
case "verify-tokens":
  exit(verifyTokens(Array(arguments.dropFirst())))
case "verify-given":
  exit(verifyGiven(Array(arguments.dropFirst())))
case "serve-attacked":
  exit(serveAttacked(Array(arguments.dropFirst())))
default:
  note("usage: Benchmarks table [--only NAME]\n")
  exit(2)
}
