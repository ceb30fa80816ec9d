import FoundationEssentials
import TestSupport
import Testing

/// What `deploy/` promises, held against the programs that read it.
@Suite struct `What is deployed` {
  @Test(arguments: [("regentd.service", 12), ("regent.service", 15)])
  func `is closed in tightly`(unit: String, threshold: Int) throws {
    let judged = try run(
      "systemd-analyze",
      [
        "security", "--offline=true", "--threshold=\(threshold)",
        "\(packageFolder())/deploy/systemd/\(unit)",
      ])
    #expect(judged.status == 0, "\(judged.outputText.split(separator: "\n").last ?? "")")
  }

  @Test func `is an nginx configuration that nginx takes`() throws {
    try withTemporaryFolder { folder in
      let made = try run(
        "openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
          "-subj", "/CN=tv.example.org", "-keyout", "\(folder)/privkey.pem", "-out",
          "\(folder)/fullchain.pem",
        ])
      #expect(made.status == 0)
      let text = String(
        decoding: try readFile("\(packageFolder())/deploy/proxy/nginx.conf"), as: UTF8.self)
      let site = text.replacing("/etc/letsencrypt/live/tv.example.org", with: folder)
        .replacing("listen 80;", with: "listen 127.0.0.1:1;")
        .replacing("listen [::]:80;", with: "")
        .replacing("listen 443 ssl http2;", with: "listen 127.0.0.1:2 ssl http2;")
        .replacing("listen [::]:443 ssl http2;", with: "")
      let whole = """
        pid \(folder)/pid; error_log \(folder)/error;
        events {} http { access_log off; \(site) }
        """
      try writeFile("\(folder)/nginx.conf", Array(whole.utf8))
      let checked = try run("nginx", ["-t", "-q", "-c", "\(folder)/nginx.conf"])
      #expect(checked.status == 0, "\(checked.errorText)")
    }
  }

  @Test func `names numbers that the service has`() throws {
    let port = try freePort()
    try withService("--metrics-listen", "127.0.0.1:\(port)") { service in
      let offered = try fetch("http://127.0.0.1:\(port)/metrics").body
      for file in ["prometheus/regentd-alerts.yml", "grafana/regentd.json"] {
        let text = String(
          decoding: try readFile("\(packageFolder())/deploy/\(file)"), as: UTF8.self)
        let names = words(of: text).filter { $0.hasPrefix("regent_") }
        #expect(!names.isEmpty)
        for name in names { #expect(offered.contains("\n\(name)"), "\(file): \(name)") }
      }
    }
  }

  @Test func `finds wrong codes in the log`() throws {
    try withService { service in
      let typed = try run(
        "sh",
        [
          "-c",
          """
          regentctl requestor add acme --domain tv.example.org &&
          regentctl provider add cable --name Cable --kind local && regentctl integrate acme cable &&
          curl -s -o /dev/null "$0/api/v1/authenticate?reg_code=BCDFGHJK&requestor_id=acme&mso_id=cable\
          &domain_name=tv.example.org&noflash=true&no_iframe=true&redirect_url=https://tv.example.org/"
          """, service.url,
        ],
        environment: [
          "HOME": service.folder, "PATH": "\(try productsFolder()):/usr/bin:/bin",
        ])
      #expect(typed.status == 0, "\(typed.errorText)")
      let log = try service.log
      #expect(log.contains(" warning wrong-code address=127.0.0.1\n"))
    }
  }

  @Test func `sets variables that the service knows`() throws {
    let text = String(
      decoding: try readFile("\(packageFolder())/deploy/regentd.env"), as: UTF8.self)
    let help = try run(try builtProgram("regentd"), ["serve", "--help"]).outputText
    let variables = words(of: text).filter { $0.hasPrefix("REGENT_") && $0 != "REGENT_" }
    #expect(variables.count > 5)
    for variable in variables {
      let option = variable.dropFirst("REGENT_".count).lowercased().replacing("_", with: "-")
      #expect(help.contains("--\(option) "), "\(variable)")
    }
  }

  private func words(of text: String) -> Set<String> {
    Set(
      text.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
  }
}
