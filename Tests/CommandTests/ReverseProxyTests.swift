import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

/// The examples of `deploy/proxy` in front of a real service.
///
/// Only ports, paths and the certificate are changed.
@Suite struct `The reverse proxy examples` {
  @Test(arguments: ["nginx.conf", "nginx-nodes.conf"])
  func `the nginx example passes on the client's address`(file: String) throws {
    try withProxiedService { service, folder, port in try startNginx(file, service, folder, port) }
  }

  @Test(
    .enabled(if: installedProgram("haproxy") != nil, "haproxy is not installed: apt-get install haproxy"),
    arguments: ["haproxy.cfg", "haproxy-nodes.cfg"])
  func `the haproxy example passes on the client's address`(file: String) throws {
    try withProxiedService { service, folder, port in try startHaproxy(file, service, folder, port) }
  }

  @Test(arguments: ["nginx-nodes.conf", "haproxy-nodes.cfg"])
  func `the examples for several nodes keep serving when no node is ready`(file: String) throws {
    guard file.hasPrefix("nginx") || installedProgram("haproxy") != nil else { return }
    let server = try PostgreSQLServer()
    try withService(
      "--trust-proxy", "127.0.0.1/32", "--public-url", "https://tv.example.org", "--database", server.socketURL
    ) { service in
      let folder = service.folder
      try makeCertificate(folder)
      let shell = Operator(folder: folder)
      try shell.get("regentctl requestor add acme && regentctl key issue acme --json > key")
      _ = try ShellBox(shell, service, key: "key")
      let curl = ["-s", "-k", "-m", "30", "-w", " %{http_code}"]
      let (proxy, url) = try started { port in
        let address = String(service.url.dropFirst("http://".count))
        return file.hasPrefix("nginx")
          ? try startNginx(file, address, folder, port) : try startHaproxy(file, address, folder, port)
      } answers: { url in
        try run("curl", curl + ["-f", "\(url)/healthz"]).status == 0
      }
      defer { proxy.signal(9) }
      kill(try server.pid, SIGQUIT)
      func answer(_ path: String) throws -> String { try run("curl", curl + ["\(url)\(path)"]).outputText }
      try eventually("no node to be ready") { try answer("/readyz").hasSuffix(" 503") }
      // Longer than haproxy needs to notice, and often enough that nginx has tried every node.
      for _ in 0..<5 {
        let page = try answer("/")
        #expect(page.contains("<html") && page.hasSuffix(" 200"), "\(page)")
        let refused = try shell.get(
          "SERVICE=\(url) KEY=key bash ./call POST '/reggie/v1/acme/regcode.json?deviceId=box-2' -k -D headers")
        #expect(refused.hasSuffix("503"), "\(refused)")
        #expect(try shell.get("cat headers").lowercased().contains("retry-after:"))
        pass(milliseconds: 1_000)
      }
    }
  }

  @Test(
    .enabled(if: installedProgram("caddy") != nil, "caddy is not installed: apt-get install caddy"))
  func `the Caddy example passes on the client's address`() throws {
    try withProxiedService { _, folder, port in
      let text = try example("Caddyfile")
      let site = text.replacing("/run/regentd-proxy/http.sock", with: "\(folder)/http.sock")
        .replacing(
          "tv.example.org {",
          with: "https://127.0.0.1:\(port) {\n\ttls \(folder)/fullchain.pem \(folder)/privkey.pem")
      // The global options are the first block of the file.
      let options = "\n{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system \(folder)/caddy\n"
      #expect(site.contains("\n{\n"))
      try writeFile("\(folder)/Caddyfile", Array(site.replacing("\n{\n", with: options, maxReplacements: 1).utf8))
      let checked = try run(
        "caddy",
        [
          "validate", "--adapter", "caddyfile", "--config",
          "\(packageFolder())/deploy/proxy/Caddyfile",
        ],
        environment: ["HOME": folder, "PATH": "/usr/bin:/bin"])
      #expect(checked.status == 0, "\(checked.errorText)")
      return try RunningProgram(
        "caddy", ["run", "--adapter", "caddyfile", "--config", "\(folder)/Caddyfile"],
        environment: ["HOME": folder, "PATH": "/usr/bin:/bin"], standardError: "\(folder)/said")
    }
  }

  /// Runs a service that trusts the proxy, starts the proxy and sends requests through it.
  private func withProxiedService(
    _ startProxy: (_ service: String, _ folder: String, _ port: UInt16) throws -> RunningProgram
  ) throws {
    try withTemporaryFolder { folder in
      try withService(
        "--listen", "unix:\(folder)/http.sock", "--trust-proxy", "unix", "--trust-proxy", "127.0.0.1/32",
        "--public-url", "https://tv.example.org", in: folder
      ) { service in try askThrough(startProxy, service) }
    }
  }

  private func askThrough(
    _ startProxy: (_ service: String, _ folder: String, _ port: UInt16) throws -> RunningProgram,
    _ service: RegentdProcess
  ) throws {
    let folder = service.folder
    try makeCertificate(folder)
    // A client that seems to be on another machine, and that claims a forged address.
    let curl = [
      "-s", "--interface", "127.0.0.2", "--cacert", "\(folder)/fullchain.pem", "-H",
      "X-Forwarded-For: 203.0.113.9", "-H", "Forwarded: for=203.0.113.9;host=evil.example",
    ]
    let (proxy, url) = try started { port in
      try startProxy(String(service.url.dropFirst("http://".count)), folder, port)
    } answers: { url in
      try run("curl", curl + ["-f", "\(url)/healthz"]).status == 0
    }
    defer { proxy.signal(9) }
    #expect(try run("curl", curl + ["\(url)/healthz?deviceId=box-of-a-viewer"]).status == 0)
    let logged = try eventually("the proxy's log") {
      let logs = try ["access", "said", "errors", "error"].map { name in
        try run("cat", ["\(folder)/\(name)"]).outputText
      }.joined()
      return logs.contains("/healthz") ? logs : nil
    }
    #expect(!logged.contains("box-of-a-viewer"), "\(logged)")
    let jar = ["-b", "\(folder)/cookies", "-c", "\(folder)/cookies"]
    let page = try run("curl", curl + jar + ["\(url)/"]).outputText
    #expect(page.contains("<html"))
    let token =
      page.firstRange(of: "name=\"csrf\" value=\"").map {
        String(page[$0.upperBound...].prefix { $0 != "\"" })
      } ?? ""
    let typed = try run(
      "curl", curl + jar + ["-d", "csrf=\(token)", "-d", "code=BCDFGHJK", "\(url)/code"])
    #expect(typed.status == 0 && typed.outputText.contains("<html"))
    let log = try service.log
    #expect(log.contains(" warning wrong-code address=127.0.0.2\n"), "\(log)")
    #expect(!log.contains("203.0.113.9"))
  }

  func makeCertificate(_ folder: String) throws {
    let made = try run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
        "\(folder)/privkey.pem", "-out", "\(folder)/fullchain.pem",
      ])
    #expect(made.status == 0, "\(made.errorText)")
  }

  private func startNginx(_ file: String, _ service: String, _ folder: String, _ port: UInt16) throws -> RunningProgram
  {
    let text = try example(file)
    let site = try nodes(text, service).replacing("/run/regentd-proxy/http.sock", with: "\(folder)/http.sock")
      .replacing("/etc/letsencrypt/live/tv.example.org", with: folder)
      .replacing("listen 80;", with: "listen 127.0.0.1:\(try freePort());")
      .replacing("listen [::]:80;", with: "")
      .replacing("listen 443 ssl;", with: "listen 127.0.0.1:\(port) ssl;")
      .replacing("listen [::]:443 ssl;", with: "")
      .replacing("/var/log/nginx/regentd.log", with: "\(folder)/access")
      .replacing("/var/log/nginx/regentd.error", with: "\(folder)/errors")
    // Every file that nginx writes is in the folder, and it runs as the test's user.
    let whole = """
      daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/error;
      events {} http { access_log off; client_body_temp_path \(folder)/1; proxy_temp_path \(folder)/2;
      fastcgi_temp_path \(folder)/3; uwsgi_temp_path \(folder)/4; scgi_temp_path \(folder)/5; \(site) }
      """
    try writeFile("\(folder)/nginx.conf", Array(whole.utf8))
    // Without -q, which would hide warnings about deprecated directives.
    let checked = try run("nginx", ["-t", "-c", "\(folder)/nginx.conf"])
    #expect(checked.status == 0 && !checked.errorText.contains("[warn]"), "\(checked.errorText)")
    return try RunningProgram(
      "nginx", ["-c", "\(folder)/nginx.conf", "-e", "\(folder)/error"],
      standardError: "\(folder)/said")
  }

  private func startHaproxy(
    _ file: String, _ service: String, _ folder: String, _ port: UInt16
  ) throws -> RunningProgram {
    let text = try example(file)
    let site = try nodes(text, service).replacing("/run/regentd-proxy/http.sock", with: "\(folder)/http.sock")
      .replacing("log /dev/log local0 info", with: "log stdout format raw local0 info")
      .replacing("/etc/haproxy/tv.example.org.pem", with: "\(folder)/both.pem")
      .replacing("bind :80\n", with: "bind 127.0.0.1:\(try freePort())\n")
      .replacing("bind :443 ", with: "bind 127.0.0.1:\(port) ")
      .replacing("maxconn 20000", with: "maxconn 100").replacing("maxconn 50000", with: "maxconn 100")
    let both = try readFile("\(folder)/fullchain.pem") + readFile("\(folder)/privkey.pem")
    try writeFile("\(folder)/both.pem", both)
    try writeFile("\(folder)/haproxy.cfg", Array(site.utf8))
    let checked = try run("haproxy", ["-c", "-q", "-f", "\(folder)/haproxy.cfg"])
    #expect(checked.status == 0, "\(checked.errorText)")
    return try RunningProgram(
      "haproxy", ["-db", "-f", "\(folder)/haproxy.cfg"], standardOutput: "\(folder)/access",
      standardError: "\(folder)/said")
  }

  /// Starts a proxy, and tries another port when the free port has been taken meanwhile.
  func started(
    _ start: (_ port: UInt16) throws -> RunningProgram, answers: (_ url: String) throws -> Bool
  ) throws -> (RunningProgram, url: String) {
    for _ in 0..<5 {
      let port = try freePort()
      let proxy = try start(port)
      let isUp = try eventually("an answer through the proxy", within: 120) {
        if proxy.poll() != nil { return false }
        return try answers("https://127.0.0.1:\(port)") ? true : nil
      }
      if isUp { return (proxy, "https://127.0.0.1:\(port)") }
    }
    throw TestSupportError("the proxy does not start")
  }

  /// An example for several nodes with the service as one node and two nodes that are away.
  private func nodes(_ text: String, _ service: String) throws -> String {
    text.replacing("10.0.0.2:8787", with: service)
      .replacing("10.0.0.1:8787", with: "127.0.0.1:\(try freePort())")
      .replacing("10.0.0.3:8787", with: "127.0.0.1:\(try freePort())")
  }

  func example(_ name: String) throws -> String {
    String(decoding: try readFile("\(packageFolder())/deploy/proxy/\(name)"), as: UTF8.self)
  }
}
