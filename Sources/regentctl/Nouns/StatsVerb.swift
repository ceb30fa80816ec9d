import Administration
import CommandKit
import RegentPairing

/// The command `regentctl stats`, which shows today's codes and sign-ins.
enum StatsVerb {
  static let command = verb(
    "stats", "show today's codes and sign-ins",
    details: """
      Counts from midnight UTC, or from the first start if that was today. A restart keeps the numbers; a crash may \
      lose those of the last minute. "codes by hour" has one bar per hour; its height is the number of codes that \
      boxes requested. "providers" lists those with the most sign-ins, temporary passes included.
      """,
    inputs: [watch],
    example: "stats --watch"
  ) { call, admin in
    while true {
      let stats = try await admin.stats()
      if call.wantsJSON {
        call.console.print(json: stats.json)
      } else {
        let lines = lines(of: stats)
        // Moves the cursor home and clears the rest of the screen, so that nothing flickers and longer old lines
        // disappear.
        if call[watch], call.console.output.isTerminal { call.console.draw("\u{1b}[H\u{1b}[J") }
        call.console.print(lines: lines)
        if call[watch], call.console.output.isTerminal {
          call.console.print()
          call.console.print("press Ctrl-C to end")
        }
      }
      guard call[watch] else { return }
      call.console.flush()
      try await Task.sleep(for: .seconds(2))
    }
  }

  private static let watch = Input.flag("watch", "refresh every two seconds, until Ctrl-C")

  static func lines(of stats: Stats) -> [String] {
    let top = stats.providers.prefix(5).map { "\($0.provider) \($0.signIns)" }
    return details([
      "today": counted(since: stats.since),
      "codes": String(stats.started),
      "codes by hour": hours(stats.hours),
      "opened": share(stats.opened, of: stats.started),
      "approved": share(stats.approved, of: stats.started),
      "denied": share(stats.denied, of: stats.started),
      "expired": share(stats.expired, of: stats.started),
      "withdrawn": share(stats.withdrawn, of: stats.started),
      "time to approve": stats.medianTimeToApprove.map { "\(roughly($0)) (median)" } ?? "-",
      "waiting now": String(stats.waiting),
      "live codes": String(stats.liveCodes),
      "wrong codes": String(stats.wrongCodes),
      "providers": top.isEmpty ? "-" : top.joined(separator: ", "),
    ])
  }

  /// The period that the numbers cover: the whole day, or the part since the service first ran.
  private static func counted(since start: Instant) -> String {
    guard start.milliseconds % 86_400_000 != 0 else { return "since 00:00 UTC" }
    return "since \(shownClock(start)) UTC, when the service first ran today"
  }

  private static func share(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return String(part) }
    return "\(part)  \((part * 100 + whole / 2) / whole) %"
  }

  /// The duration rounded to tenths of a second.
  private static func roughly(_ duration: Duration) -> String {
    let tenths = duration.wholeMilliseconds / 100
    if tenths < 600 { return "\(tenths / 10).\(tenths % 10) s" }
    return "\(tenths / 600) min \(tenths % 600 / 10) s"
  }

  /// A bar for the count of each hour, with the time of the first hour.
  private static func hours(_ hours: [HourCount]) -> String? {
    guard let first = hours.first else { return nil }
    return sparkline(hours.map(\.started)).map {
      "\($0)  from \(shownClock(first.start)) UTC"
    }
  }

  /// Draws each count as a block character of one of eight heights; nil without counts.
  static func sparkline(_ counts: [Int]) -> String? {
    let heights = Array("▁▂▃▄▅▆▇█")
    guard let largest = counts.max(), largest > 0 else { return nil }
    return String(counts.map { heights[$0 * (heights.count - 1) / largest] })
  }
}
