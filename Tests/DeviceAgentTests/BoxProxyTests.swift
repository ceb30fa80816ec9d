import RegentJSON
import ServiceTestSupport
import TestSupport
import Testing

@Suite struct `A box behind a proxy with a short timeout` {
  @Test(
    .enabled(if: installedProgram("nginx") != nil, "nginx is not installed: run deploy/bootstrap"), arguments: [2, 4])
  func `the box shortens its long polls below the proxy's timeout without reporting an error`(seconds: Int) async throws
  {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let (proxy, port) = try await impatientProxy(folder, before: service.port, seconds)
      defer { proxy.signal(9) }
      let box = try Box(folder, "http://127.0.0.1:\(port)")
      let program = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      // The proxy must cut at least one long poll; afterwards the service must answer first three times.
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
      // The number of cuts is not checked: on a busy machine the service answers late, and the proxy cuts short
      // polls, too.
      let waits = answers().drop { !$0.hasPrefix("504") }.dropFirst().compactMap { answer in
        answer.split(separator: "wait=").dropFirst().first.flatMap { Int($0) }
      }
      #expect(waits.count >= 3 && waits.allSatisfy { $0 < seconds }, "\(answers())")
      let names = try box.events().compactMap { $0["event"]?.string }
      #expect(!names.contains("error") && names.last == "authenticated", "\(names)")
    }
  }

  /// nginx with a short timeout on its own port; it logs the responses about codes.
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
    // nginx writes its process id when it listens.
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
