import Glibc
import TestSupport
import Testing

@Suite struct SignalTests {
  @Test func `signals sent before the listener starts are received, and none ends the program`() throws {
    try withTemporaryFolder { folder in
      let output = "\(folder)/out"
      let probe = try RunningProgram(
        builtProgram("PlatformProbe"), ["signals"], standardOutput: output)
      _ = try eventually("readiness") { try lines(output).first }
      // The probe's listener starts 100 ms after this line.
      for signal in [SIGHUP, SIGUSR1, SIGHUP] { probe.signal(signal) }
      _ = try eventually("the first signals") { try lines(output).count >= 3 ? true : nil }
      probe.signal(SIGTERM)
      #expect(try probe.wait() == 0)
      let heard = try lines(output)
      #expect(Set(heard) == ["ready", "heard \(SIGHUP)", "heard \(SIGUSR1)", "heard \(SIGTERM)"])
      #expect(heard.last == "heard \(SIGTERM)")
    }
  }

  @Test func `a hardened process writes no core dump, cannot be traced and creates private files`() throws {
    let finished = try run(builtProgram("PlatformProbe"), ["harden"])
    #expect(finished.status == 0)
    let words = finished.outputText.split(separator: "\n").map {
      $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    #expect(
      words == [
        "NoNewPrivs: 1", "Max core file size 0 0 bytes", "mask 77", "dumps forbidden",
      ])
  }

  private func lines(_ path: String) throws -> [String] {
    String(decoding: (try? readFile(path)) ?? [], as: UTF8.self).split(separator: "\n")
      .map(String.init)
  }
}
