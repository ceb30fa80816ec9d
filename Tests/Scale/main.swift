// Scale: predicts what a cluster of several nodes needs, beyond the size of this machine. It measures single acts
// without sockets, computes from them (ScaleModel) what one, two and three nodes use, and measures real nodes in the
// same run. Exit code 1 when a prediction is off by more than a fifth. Start with run().

internal import Glibc
internal import RegentPlatform

// As in `regentd`, so that costs here equal those in the service.
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
