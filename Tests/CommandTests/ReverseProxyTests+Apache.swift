import Glibc
import TestSupport
import Testing

extension `The reverse proxy examples` {
  // Only the logs are checked: as root, Apache serves as another user, who cannot reach the service's socket here. A
  // request that ends with 503 is logged as well.
  @Test(.enabled(if: installedProgram("apache2") != nil, "apache2 is not installed: apt-get install apache2-bin"))
  func `the Apache example logs no query, neither of the request nor of the page before it`() throws {
    try withTemporaryFolder { folder in
      try makeCertificate(folder)
      let (proxy, url) = try started { port in
        try startApache(folder, port)
      } answers: { url in
        try run("curl", ["-s", "-k", "\(url)/healthz"]).status == 0
      }
      defer { proxy.signal(9) }
      let referer = "Referer: \(url)/sign-in?from-code=BCDFGHJK"
      #expect(try run("curl", ["-s", "-k", "-H", referer, "\(url)/logged?deviceId=box-of-a-viewer"]).status == 0)
      let logged = try eventually("the proxy's log") {
        let logs = try ["access", "all", "errors", "error"].map { name in
          try run("cat", ["\(folder)/\(name)"]).outputText
        }.joined()
        return logs.contains("GET /logged HTTP/1.1") || logs.contains("box-of-a-viewer") ? logs : nil
      }
      #expect(!logged.contains("box-of-a-viewer") && !logged.contains("BCDFGHJK"), "\(logged)")
    }
  }

  private func startApache(_ folder: String, _ port: UInt16) throws -> RunningProgram {
    let site = try example("apache.conf").replacing("*:443", with: "127.0.0.1:\(port)")
      .replacing("/etc/letsencrypt/live/tv.example.org", with: folder)
      .replacing("/var/log/apache2/regentd.log", with: "\(folder)/access")
      .replacing("/var/log/apache2/regentd.error", with: "\(folder)/errors")
      .replacing("/run/regentd-proxy/http.sock", with: "\(folder)/http.sock")
    let modules = ["mpm_event", "authz_core", "headers", "proxy", "proxy_http", "ssl", "socache_shmcb"].map {
      "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so\n"
    }.joined()
    // Debian logs every virtual host that has no log of its own in this way.
    let whole = """
      ServerRoot \(folder)
      ServerName localhost
      PidFile \(folder)/pid
      Listen 127.0.0.1:\(port)
      \(geteuid() == 0 ? "User www-data\nGroup www-data" : "")
      ErrorLog \(folder)/error
      \(modules)
      LogFormat "%v:%p %h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\"" vhost_combined
      CustomLog \(folder)/all vhost_combined
      \(site)
      """
    try writeFile("\(folder)/apache.conf", Array(whole.utf8))
    return try RunningProgram(
      "apache2", ["-d", folder, "-f", "\(folder)/apache.conf", "-D", "FOREGROUND"], standardError: "\(folder)/said")
  }
}
