import RegentJSON
import ServiceTestSupport
import TestSupport
import Testing

@Suite struct `A box behind a proxy that gives up after seconds` {
  @Test(
    .enabled(if: installedProgram("nginx") != nil, "nginx is not installed: run deploy/bootstrap"), arguments: [2, 4])
  func `waits shorter and tells nobody of it`(seconds: Int) async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let (proxy, port) = try await impatientProxy(folder, before: service.port, seconds)
      defer { proxy.signal(9) }
      let box = try Box(folder, "http://127.0.0.1:\(port)")
      let program = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      // The proxy gives up at least once; then the service answers first, again and again.
      let answers = {
        String(decoding: (try? readFile("\(folder)/access")) ?? [], as: UTF8.self).split(separator: "\n").map(
          String.init)
      }
      try await eventually("waits that the proxy does not cut") {
        let all = answers()
        return all.lastIndex { $0.hasPrefix("504") }.map {
          all.dropFirst($0 + 1).count { $0.hasPrefix("200 wait=") } >= 3
        } == true ? true : nil
      }
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { program.poll() } == 0)
      // Not the number of cuts: a busy machine answers late, and the proxy cuts a short wait too.
      let waits = answers().drop { !$0.hasPrefix("504") }.dropFirst().compactMap { answer in
        answer.split(separator: "wait=").dropFirst().first.flatMap { Int($0) }
      }
      #expect(waits.count >= 3 && waits.allSatisfy { $0 < seconds }, "\(answers())")
      let names = try box.events().compactMap { $0["event"]?.string }
      #expect(!names.contains("error") && names.last == "authenticated", "\(names)")
    }
  }

  /// nginx with a short limit, on a port of its own, that writes down what it answers about codes.
  private func impatientProxy(
    _ folder: String, before service: UInt16, _ seconds: Int
  ) async throws -> (RunningProgram, port: UInt16) {
    let port = try freePort()
    try writeFile(
      "\(folder)/nginx.conf",
      """
      daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/error;
      events {} http {
        log_format status '$status $http_prefer'; access_log off;
        client_body_temp_path \(folder)/1; proxy_temp_path \(folder)/2; fastcgi_temp_path \(folder)/3;
        uwsgi_temp_path \(folder)/4; scgi_temp_path \(folder)/5; proxy_read_timeout \(seconds)s;
        server {
          listen 127.0.0.1:\(port);
          location / { proxy_pass http://127.0.0.1:\(service); }
          location ~ /regcode/ { proxy_pass http://127.0.0.1:\(service); access_log \(folder)/access status; }
        }
      }
      """.utf8)
    let proxy = try RunningProgram(
      "nginx", ["-c", "\(folder)/nginx.conf", "-e", "\(folder)/error"], standardError: "\(folder)/said")
    // nginx writes its number when it listens.
    try await eventually("nginx listens") { () async throws -> Bool? in
      if let status = proxy.poll() {
        throw TestSupportError(
          "nginx ended with \(status): \(String(decoding: try readFile("\(folder)/said"), as: UTF8.self))")
      }
      guard let number = try? readFile("\(folder)/pid"), !number.isEmpty else { return nil }
      return true
    }
    return (proxy, port)
  }
}
