import FoundationEssentials
import RegentPairing
import TestSupport
import Testing

/// The files of `deploy/`, checked with the programs that read them.
@Suite struct `Files in deploy` {
  @Test(arguments: [("regentd.service", 12), ("regentd@.service", 12), ("regent.service", 15)])
  func `each systemd unit has a tight sandbox`(unit: String, threshold: Int) throws {
    let judged = try run(
      "systemd-analyze",
      [
        "security", "--offline=true", "--threshold=\(threshold)",
        "\(packageFolder())/deploy/systemd/\(unit)",
      ])
    #expect(judged.status == 0, "\(judged.outputText.split(separator: "\n").last ?? "")")
  }

  @Test func `the unit template for several services has the sandbox of the single one`() throws {
    func sandbox(_ unit: String) throws -> [Substring] {
      let text = String(decoding: try readFile("\(packageFolder())/deploy/systemd/\(unit)"), as: UTF8.self)
      let own = ["Environment", "RuntimeDirectory=", "#"]
      return text.split(separator: "\n").drop { $0 != "[Service]" }
        .filter { line in !own.contains { line.hasPrefix($0) } }
    }
    #expect(try sandbox("regentd@.service") == sandbox("regentd.service"))
  }

  @Test func `dashboards and alerts use only metrics that the service has`() throws {
    try withService("--metrics-listen", "127.0.0.1:0") { service in
      let offered = try fetch("\(try service.metricsURL)/metrics").body
      for file in ["prometheus/regentd-alerts.yml", "grafana/regentd.json"] {
        let text = String(
          decoding: try readFile("\(packageFolder())/deploy/\(file)"), as: UTF8.self)
        let names = words(of: text).filter { $0.hasPrefix("regent_") }
        #expect(!names.isEmpty)
        for name in names { #expect(offered.contains("\n\(name)"), "\(file): \(name)") }
      }
    }
  }

  @Test(
    .enabled(
      if: installedProgram("promtool") != nil,
      "promtool is not installed: apt-get install prometheus"))
  func `Prometheus accepts the alerts, and they fire`() throws {
    try withTemporaryFolder { folder in
      let rules = "\(packageFolder())/deploy/prometheus"
      let checked = try run("promtool", ["check", "config", "\(rules)/scrape.yml"])
      #expect(checked.status == 0, "\(checked.errorText)")
      try writeFile(
        "\(folder)/test.yml",
        Array(
          """
          rule_files: ["\(rules)/regentd-alerts.yml"]
          evaluation_interval: 1m
          tests:
            - interval: 1m
              input_series:
                - { series: 'regent_wrong_codes_total{job="regentd"}', values: "0+5x30 180+30x40" }
                - { series: 'up{job="regentd"}', values: "1x60 0x10" }
              alert_rule_test:
                - { eval_time: 25m, alertname: RegentGuessing }
                - { eval_time: 60m, alertname: RegentGuessing, exp_alerts: [{ exp_labels:
                    { job: regentd, severity: page }, exp_annotations: { summary:
                    "more than 20 wrong codes a minute: somebody tries codes", action:
                    "journalctl -u regentd | grep wrong-code; enable deploy/fail2ban" } }] }
                - { eval_time: 50m, alertname: RegentDown }
                - { eval_time: 65m, alertname: RegentDown, exp_alerts: [{ exp_labels:
                    { job: regentd, severity: page }, exp_annotations: { summary:
                    "regentd does not answer", action:
                    "systemctl status regentd; journalctl -u regentd -n 50" } }] }

          """.utf8))
      let rung = try run("promtool", ["test", "rules", "\(folder)/test.yml"])
      #expect(rung.status == 0, "\(rung.outputText)\(rung.errorText)")
    }
    try withService { service in
      let numbers = try run(
        "curl",
        [
          "-s", "--unix-socket", "\(service.folder)/.local/state/regent/admin.sock",
          "http://r/metrics",
        ])
      let judged = try run("promtool", ["check", "metrics"], input: numbers.output)
      #expect(judged.status == 0, "\(judged.errorText)")
      #expect(judged.errorText == "")
    }
  }

  /// Log lines of the service, each with the address that fail2ban must ban, if any.
  private static let logLines: [(line: String, address: String?)] = [
    ("2026-11-20T15:00:00.000Z warning wrong-code address=203.0.113.9", "203.0.113.9"),
    ("2026-11-20T15:00:00.000Z warning wrong-code address=2001:db8::1", "2001:db8::1"),
    ("Nov 20 15:00:00 tv regentd[123]: wrong-code address=203.0.113.9", "203.0.113.9"),
    (
      #"{"time":1763650800000,"level":"warning","event":"wrong-code","address":"203.0.113.9"}"#,
      "203.0.113.9"
    ),
    // A box that asks about a wrong code by itself must not get its home's phones banned.
    ("2026-11-20T15:00:00.000Z warning wrong-code-of-app requestor=a address=203.0.113.9", nil),
    // An attacker puts such words into a name or path to get another address banned.
    (#"2026-11-20T15:00:00.000Z info seen name="x wrong-code address=203.0.113.9""#, nil),
    ("2026-11-20T15:00:00.000Z info seen name=wrong-code address=203.0.113.9", nil),
    ("2026-11-20T15:00:00.000Z info call-refused path=/wrong-code address=203.0.113.9", nil),
    (
      #"{"time":1763650800000,"level":"info","event":"seen","name":"\"event\":\"wrong-code\",\"address\":\"203.0.113.9\""}"#,
      nil
    ),
  ]

  @Test(arguments: logLines)
  func `the fail2ban filter matches wrong codes and nothing else`(line: String, address: String?) throws {
    let text = String(
      decoding: try readFile("\(packageFolder())/deploy/fail2ban/filter.conf"), as: UTF8.self)
    let expressions = text.split(separator: "\n").compactMap { line -> Substring? in
      guard let start = line.firstRange(of: "^") else { return nil }
      return line[start.lowerBound...]
    }
    #expect(expressions.count == 2)
    // As fail2ban does it: it removes the time first, and <HOST> is an address.
    let script = """
      import re, sys
      line = re.sub(r'^\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z ?|^[A-Z][a-z]{2} \\d+ [0-9:]+ ?', '', sys.argv[1])
      found = [m.group(1) for e in sys.argv[2:] for m in [re.search(e.replace('<HOST>', '([0-9a-f.:]+)'), line)] if m]
      print(found[0] if found else 'none')
      """
    let found = try run("python3", ["-c", script, line] + expressions.map(String.init))
    #expect(found.outputText == "\(address ?? "none")\n", "\(found.errorText)")
  }

  @Test(
    .enabled(
      if: installedProgram("fail2ban-regex") != nil,
      "fail2ban is not installed: apt-get install fail2ban"),
    arguments: logLines)
  func `fail2ban accepts the filter`(line: String, address: String?) throws {
    let judged = try run(
      "fail2ban-regex",
      ["--out", "ip", line, "\(packageFolder())/deploy/fail2ban/filter.conf"])
    #expect(judged.outputText.filter { !$0.isWhitespace } == address ?? "", "\(judged.errorText)")
  }

  /// The service accepts only a limited number of wrong codes from an address, and logs no others.
  @Test func `the fail2ban jail bans an address that guesses for hours, but not a hotel`() throws {
    let text = String(decoding: try readFile("\(packageFolder())/deploy/fail2ban/jail.conf"), as: UTF8.self)
    func setting(_ name: String) -> Substring? {
      text.split(separator: "\n").first { $0.hasPrefix(name) }?.split(separator: "=").last?.drop { $0 == " " }
    }
    let most = try #require(setting("maxretry").flatMap { Int($0) })
    #expect(setting("findtime") == "6h")
    let source = try #require(SourceKey(address: [203, 0, 113, 9]))
    var ledger = GuessLedger<Int>(ofSource: FailureLimit.wrongCodes.widened(by: 12))
    var now = Uptime(milliseconds: 0)
    var logged: [Uptime] = []
    while now < Uptime(milliseconds: 21_600_000) {
      if ledger.verdict(source: source, account: nil, at: now) == .within {
        ledger.wrong(source: source, account: nil, at: now)
        logged.append(now)
      }
      now = now + .seconds(1)
    }
    let inOneWindow = logged.count { $0 < Uptime(milliseconds: 7_200_000) }
    #expect(most > 2 * inOneWindow, "a hotel that mistypes until it has to wait, twice")
    #expect(logged.count >= most, "an attacker who guesses for six hours")
  }

  @Test func `a wrong code appears in the service's log`() throws {
    try withService { service in
      let typed = try run(
        "sh",
        [
          "-c",
          """
          regentctl requestor add acme --domain tv.example.org &&
          regentctl provider add cable --name Cable --kind local && regentctl integrate acme cable &&
          page=$(curl -s -c "$HOME/jar" "$0/") &&
          token=$(echo "$page" | sed -n 's/.*name="csrf" value="\\([^"]*\\)".*/\\1/p' | head -n 1) &&
          curl -s -o /dev/null -b "$HOME/jar" -H "Origin: $0" --data-urlencode "csrf=$token" -d code=BCDFGHJK "$0/code"
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

  @Test func `a shell reads the settings file as systemd does`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let proxies = try shell.get(
        "set -au; . \(packageFolder())/deploy/regentd.env; echo \"$REGENT_TRUST_PROXY\"")
      #expect(proxies == "unix")
      // As an operator without systemd types it, with a folder of the test and without the group.
      try shell.get("grep -v ADMIN_GROUP \(packageFolder())/deploy/regentd.env > regentd.env")
      try withService(in: folder) { service in
        service.program.signal(15)
        _ = try service.program.wait()
      }
      let typed = "sh -c 'set -a; . \(folder)/regentd.env; STATE_DIRECTORY=\(shell.state) exec regentd check'"
      let checked = try shell.get(typed)
      #expect(checked.contains("database: \(shell.state)/regent.db is intact"))
      let wrong = "sed -i 's|^REGENT_LISTEN=.*|REGENT_LISTEN=nonsense|' regentd.env"
      try shell.get(wrong)
      let refused = try shell.refusal(typed)
      #expect(refused.contains("REGENT_LISTEN \"nonsense\" is not an address"), "\(refused)")
    }
  }

  @Test func `the settings file sets only variables that the service knows`() throws {
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
