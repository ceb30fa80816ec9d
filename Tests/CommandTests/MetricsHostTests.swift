import RegentdTestSupport
import TestSupport
import Testing

@Suite struct `Hosts for the metrics endpoint` {
  @Test func `metrics are refused under a foreign host name that resolves to this machine`() throws {
    try withService("--metrics-listen", "127.0.0.1:0", "--public-url", "https://tv.example.org") { service in
      let place = try service.metricsURL
      func status(_ host: String?) throws -> String {
        let line = host.map { "Host: \($0)\r\n" } ?? ""
        let version = host == nil ? "1.0" : "1.1"
        let request = "GET /metrics HTTP/\(version)\r\n\(line)Connection: close\r\n\r\n"
        return String(String(decoding: try exchange(place, Array(request.utf8)), as: UTF8.self).dropFirst(9).prefix(3))
      }
      let port = place.split(separator: ":").last ?? ""
      let foreign = [
        "evil.example", "evil.example:\(port)", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1",
        "[::2]", "tv.example.org.evil.example",
      ]
      for host in foreign { #expect(try status(host) == "421", "\(host)") }
      let own = ["127.0.0.1:\(port)", "127.0.0.1", "localhost:\(port)", "LOCALHOST", "[::1]:\(port)", "tv.example.org"]
      for host in own { #expect(try status(host) == "200", "\(host)") }
      #expect(try status(nil) == "200", "HTTP/1.0 has no Host, and no browser speaks it")
    }
  }
}
