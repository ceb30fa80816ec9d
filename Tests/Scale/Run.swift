internal import Glibc
internal import RegentPlatform
internal import ScaleModel
internal import TestSupport

func usage() -> Int32 {
  note("usage: Scale [--json]")
  return 2
}

/// The waiting boxes of the simulations, and the boxes that are signed in beside them.
private let crowds = (sqlite: 100_000, server: 60_000, boxes: 60_000)

func run(json: Bool) throws -> Int32 {
  let began = seconds()
  _ = OpenFiles.raiseLimit(to: 30_000)
  let folder = try makeTemporaryFolder()
  defer { removeTree(folder) }
  note("… simulated: \(crowds.sqlite) waiting boxes, on SQLite")
  let sqlite = try Simulated.run(["sqlite", "\(folder)/scale.db", "\(crowds.sqlite)", "\(crowds.boxes)"])
  let ground = try Ground()
  note("… simulated: \(crowds.server) waiting boxes, on PostgreSQL")
  let place = try ground.place("simulated")
  let server = try Simulated.run(["server", place.url, "\(place.server)", "\(crowds.server)", "\(crowds.boxes)"])
  let costs = try Laboratory(ground, Engine(), server).costs()
  let model = Model(costs)
  for (name, spend) in Report.acts(costs) { note("  \(name): \(text(spend.nodes)) and \(text(spend.database)) us") }
  let cores = TaskThreads.oneForEachCore
  var comparisons: [Comparison] = []
  for count in 1...3 {
    let found = try RealNodes(count, on: ground, in: folder).compare(with: model, cores: Double(cores))
    for one in found { note("  " + Report.line(one)) }
    comparisons += found
  }
  let report = Report(
    sqlite: sqlite, server: server, waiting: (crowds.sqlite, crowds.server), costs: costs, comparisons: comparisons,
    cores: cores)
  if json { print(report.json()) } else { for line in report.lines() { print(line) } }
  note("\(Int(seconds() - began)) s")
  return report.missed == 0 ? 0 : 1
}
