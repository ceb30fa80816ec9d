internal import Glibc
internal import TestSupport

// New registration codes over HTTP, each durable before its response. The reference is Python's sqlite3, which writes
// the same rows into the same schema in transactions of 64 rows with synchronous=FULL.

func creationRows() -> [Row] {
  [
    Row(name: "codes: new ones, durable", unit: "rows/s", bar: .oursOverReference(atLeast: 0.5)) {
      try compareCreation()
    }
  ]
}

private let path = "/reggie/v1/\(BenchKeys.requestor)/regcode"

private func compareCreation() throws -> Measurement {
  try withTemporaryFolder { folder in
    let script = "\(packageFolder())/Tests/Benchmarks/reference/same_rows.py"
    // Not pinned, because the writer thread is part of the design. wrk takes what it needs beside it.
    let server = try startPairing(folder: folder, codes: 10, pinned: false)
    var ours: [Double] = []
    var reference: [Double] = []
    for round in 0..<5 {
      let calls = try writeSignedCalls(
        100_000, method: "POST", path: path, folder: folder, name: "create-\(round)"
      ) { "\(path)?format=json&deviceId=new-\(round)-\($0)" }
      let load = try Load(
        port: server.port, ["-t1", "-c64", "-d2s", "-s", calls], path: path)
      let python = try run(
        "python3", [script, "\(folder)/10/bench.db", "\(folder)/copy-\(round).db"], deadline: 120)
      guard let rate = Double(python.outputText.filter { !$0.isWhitespace }) else {
        throw TestSupportError("python3 said: \(python.errorText)")
      }
      guard round > 0 else { continue }
      ours.append(load.requestsPerSecond)
      reference.append(rate)
    }
    return Measurement(
      ours: median(ours), reference: median(reference), note: "64 connections, one writer")
  }
}
