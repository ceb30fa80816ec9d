import Glibc
import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import TestSupport
import RegentPlatform
import Testing

@Suite struct DescriptorTests {
  /// In a process of its own, because the limit applies to the whole process: client and server share the file
  /// descriptors.
  @Test func `the server survives running out of file descriptors without a busy loop`() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 100, rlim_max: 100)
      let limited = unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
      try #require(limited == 0)
      let parking = Parking()
      try await withServer(parking) { server, address in
        // This connection waits for its reply. The server may close an idle connection to make room, but not this
        // one.
        let before = try WireConnection(address)
        try before.send(get("/later/meanwhile"))
        let reply = try parking.take("/later/meanwhile")
        var others: [WireConnection] = []
        while let other = try? WireConnection(address) { others.append(other) }
        // One descriptor may be left. What matters is that accepting fails from here on.
        try eventually("accepting fails") { server.statistics.acceptPauses > 0 }
        // Each pause lasts 50 ms. Without pauses there would be tens of thousands of attempts per second.
        let (pauses, start) = (server.statistics.acceptPauses, Clocks.bootNanoseconds())
        pass(milliseconds: 100)
        let (made, after) = (server.statistics.acceptPauses - pauses, Clocks.bootNanoseconds())
        #expect(Int64(made) <= Int64(after - start) / 10_000_000 + 10)

        reply.complete(.text(.ok, "meanwhile"))
        #expect(try before.response().text == "meanwhile")

        others.removeAll()
        let later: WireConnection = try eventually("a free descriptor") { try? WireConnection(address) }
        try later.send(get("/after"))
        #expect(try later.response().text == "now /after")
      }
    }
  }
}
