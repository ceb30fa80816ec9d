import Glibc
import TestSupport
import Testing

/// Commands that run until the operator stops them.
@Suite struct `Commands of regentctl that follow changes` {
  @Test func `audit tail --follow prints each new line once until it is stopped`() throws {
    try withService { service in
      let shell = Operator(folder: service.folder)
      try shell.get("regentctl requestor add first")
      let following = try watch(service, ["audit", "tail", "--follow"], to: "followed")
      try eventually("what was there") {
        try text(service, "followed").contains("add first") ? true : nil
      }
      try shell.get("regentctl requestor add second && regentctl requestor add third")
      try eventually("what came") {
        try text(service, "followed").contains("add third") ? true : nil
      }
      following.signal(SIGINT)
      #expect(try following.wait() == 128 + SIGINT)
      // Each line once, in order.
      let lines = try text(service, "followed").split(separator: "\n").filter {
        $0.contains("requestor.add")
      }
      #expect(lines.map { $0.split(separator: " ").last } == ["first", "second", "third"])
    }
  }

  @Test func `stats --watch prints the statistics again and again`() throws {
    try withService { service in
      let watching = try watch(service, ["stats", "--watch", "--json"], to: "watched")
      try eventually("two documents") {
        try text(service, "watched").split(separator: "\n").count >= 2 ? true : nil
      }
      // Without a terminal only the documents are written.
      #expect(try !text(service, "watched").contains("\u{1b}"))
      #expect(try text(service, "watched").hasPrefix(#"{"since":"#))
      service.program.signal(SIGTERM)
      _ = try service.program.wait()
      #expect(try watching.wait() == 1)
      #expect(try text(service, "watched.err").hasPrefix(#"{"error":{"code":"#))
    }
  }

  @Test func `the statistics continue after a restart`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      var before = ""
      try withService(in: folder) { service in
        try shell.get("regentctl requestor add acme && regentctl key issue acme --json > key.json")
        let box = try ShellBox(shell, service, key: "key.json")
        for device in 1...3 { _ = try box.code(device: "box-\(device)") }
        before = try numbers(shell, ["since", "started", "liveCodes"])
        #expect(before.hasSuffix(#""started":3 "liveCodes":3"#), "\(before)")
        service.program.signal(SIGTERM)
        #expect(try service.program.wait() == 0)
      }
      try withService(in: folder) { service in
        #expect(try numbers(shell, ["since", "started", "liveCodes"]) == before)
        _ = try ShellBox(shell, service, key: "key.json").code(device: "box-4")
        #expect(try numbers(shell, ["started"]) == #""started":4"#)
      }
    }
  }

  private func numbers(_ shell: Operator, _ names: [String]) throws -> String {
    let document = try shell.get("regentctl stats --json")
    return names.map { name in
      let start = document.firstRange(of: "\"\(name)\":")?.lowerBound ?? document.endIndex
      return String(document[start...].prefix { $0 != "," && $0 != "}" })
    }.joined(separator: " ")
  }

  private func watch(_ service: RegentdProcess, _ words: [String], to name: String) throws
    -> RunningProgram
  {
    try RunningProgram(
      try builtProgram("regentctl"), words, environment: ["HOME": service.folder],
      standardOutput: "\(service.folder)/\(name)", standardError: "\(service.folder)/\(name).err")
  }

  private func text(_ service: RegentdProcess, _ name: String) throws -> String {
    String(decoding: try readFile("\(service.folder)/\(name)"), as: UTF8.self)
  }
}
