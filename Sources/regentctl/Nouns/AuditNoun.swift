import Administration
import CommandKit
import RegentJSON

/// The commands of `regentctl audit`.
enum AuditNoun {
  static let command = Command(
    "audit", "the audit log: who did what, when and with what result",
    commands: [
      verb(
        "tail", "show the newest lines",
        details: """
          The options select lines of the whole log; --lines then counts the selected ones. An action of root has the \
          user behind sudo in parentheses: operator root (anna).
          """,
        inputs: [count, follow] + AuditFilter.inputs, example: "audit tail --viewer cable/anna --since 24h"
      ) { call, admin in
        let filter = AuditFilter(call)
        var last = try await start(of: call[count], filter, admin)
        if call.wantsJSON, !call[follow] {
          var all: [AuditLine] = []
          try await read(admin, after: &last) { if filter.selects($0) { all.append($0) } }
          call.console.print(json: .array(all.map(\.json)))
          return
        }
        try await read(admin, after: &last) { if filter.selects($0) { show($0, call) } }
        while call[follow] {
          call.console.flush()
          try await Task.sleep(for: .seconds(1))
          try await read(admin, after: &last) { if filter.selects($0) { show($0, call) } }
        }
      },
      verb(
        "export", "print the whole log, one JSON document per line",
        details: """
          Lines are numbered without gaps, so a deleted line is noticed. When the log is full, the service removes \
          lines that unauthenticated clients caused, and writes a line audit.thin with their numbers. --visitor \
          selects lines with a visitor id that an app set (setOptions). The app chooses this text; it proves nothing.
          """,
        inputs: [visitor] + AuditFilter.inputs, example: "audit export > audit.jsonl"
      ) { call, admin in
        var last: Int64 = 0
        let (visitor, filter) = (call[visitor], AuditFilter(call))
        try await read(admin, after: &last) { line in
          guard filter.selects(line), visitor.map({ VisitorPseudonym.isAbout($0, line.detail) }) ?? true else { return }
          call.console.print(json: line.json)
        }
      },
    ])

  private static let count = Input.option(
    "lines", .integer(1...100_000), default: 20, "the number of lines")
  private static let visitor = Input.option(
    "visitor", .text("ID"), "print only lines with this visitor id of an app")
  private static let follow = Input.flag("follow", "keep printing new lines, until Ctrl-C")

  /// The number of the line before the newest `count` selected ones.
  private static func start(
    of count: Int, _ filter: AuditFilter, _ admin: AdminClient
  ) async throws(AdminError) -> Int64 {
    let newest = try await admin.newestAuditNumber()
    guard !filter.isEmpty else { return max(0, newest - Int64(count)) }
    var selected: [Int64] = []
    var last: Int64 = 0
    try await read(admin, after: &last) { line in
      guard filter.selects(line) else { return }
      selected.append(line.number)
      if selected.count >= 2 * count { selected.removeFirst(selected.count - count) }
    }
    return selected.suffix(count).first.map { $0 - 1 } ?? last
  }

  /// Reads all lines of the audit log after the line with a given number, in order.
  private static func read(
    _ admin: AdminClient, after last: inout Int64, _ take: (AuditLine) -> Void
  ) async throws(AdminError) {
    while true {
      let page = try await admin.audit(after: last)
      page.forEach(take)
      guard let end = page.last else { return }
      last = end.number
    }
  }

  private static func show(_ line: AuditLine, _ call: Invocation) {
    if call.wantsJSON {
      call.console.print(json: line.json)
      return
    }
    call.console.print(
      text(line, line.subject, line.detail),
      short: text(line, shortSubject(line), withShortDevices(line.detail)))
  }

  private static func text(_ line: AuditLine, _ subject: String, _ detail: String) -> String {
    let outcome = line.outcome == "done" ? "" : " (\(line.outcome))"
    let detail = detail.isEmpty ? "" : ": \(detail)"
    return "\(shown(line.at))  \(line.actor)  \(line.action) \(subject)\(outcome)\(detail)"
  }

  /// The subject with a long id shortened to its beginning, which commands accept; names are not shortened.
  private static func shortSubject(_ line: AuditLine) -> String {
    let parts = line.subject.split(separator: "-", omittingEmptySubsequences: false)
    let isDrawn = parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
    let isKey = ["key", "signing-key"].contains { line.action.hasPrefix("\($0).") }
    return isDrawn || isKey && line.subject.utf8.count > 16
      ? String(line.subject.prefix(IDPrefix.shortest)) : withShortDevices(line.subject)
  }

  /// The text with device ids shortened to their beginning, which commands accept.
  private static func withShortDevices(_ text: String) -> String {
    text.split(separator: " ", omittingEmptySubsequences: false).map { word in
      let isDevice = word.utf8.count == 16 && word.utf8.allSatisfy("0123456789abcdef".utf8.contains)
      return isDevice ? word.prefix(IDPrefix.shortest) : word
    }.joined(separator: " ")
  }
}
