// Scale: what a cluster of several nodes needs, past this machine: measures single acts without sockets, reckons from
// them (ScaleModel) what one, two and three nodes use, and drives real ones in the same run. Exit code 1 when a figure
// is further from its prediction than a fifth. Start with run().

internal import Glibc
internal import RegentPlatform

// As `regentd` does it: what is measured here is to cost what it costs there.
TaskThreads.takeOver(threads: TaskThreads.oneForEachCore)

private let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "nothing": exit(serveNothing(Array(arguments.dropFirst())))
case "simulate": exit(simulate(Array(arguments.dropFirst())))
case nil, "--json":
  do {
    exit(try run(json: arguments.first == "--json"))
  } catch {
    note("Scale: \(error)")
    exit(2)
  }
default: exit(usage())
}
