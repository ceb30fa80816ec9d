internal import RegentJSON
package import RegentPairing

// Stores the counters of the day as text and reads them, so that a restart does not lose them.

extension DayNumbers {
  /// The day's counters as text, which ``init(keptAs:at:)`` reads.
  ///
  /// ``keptTime(of:)`` reads `now` back from it.
  package func text(at now: Instant) -> String {
    var document = JSONObject()
    document["kept"] = .integer(now.milliseconds)
    document["since"] = .integer(since.milliseconds)
    document["counts"] = .object(
      JSONObject(counts.map { .init($0.key.rawValue, .integer(Int64($0.value))) }))
    document["started"] = .array(hours.map { .integer(Int64($0.started)) })
    document["approved"] = .array(hours.map { .integer(Int64($0.approved)) })
    document["approvals"] = .object(
      JSONObject(approvals.map { .init($0.key.text, .integer(Int64($0.value))) }))
    document["withoutCode"] = .object(
      JSONObject(withoutCode.map { .init($0.key.text, .integer(Int64($0.value))) }))
    document["times"] = .array(times.map { .integer($0) })
    return JSONValue.object(document).description
  }

  /// The time at which the counters were stored, as their text states it; nil when the text contains no time.
  package static func keptTime(of text: String) -> Instant? {
    (try? JSONValue(reading: text).object)?["kept"]?.int64.map(Instant.init(milliseconds:))
  }

  /// The counters with which a service continues that now runs alone and had several nodes before.
  ///
  /// It adds the counters of all nodes to those that the service counted before it had nodes. Returns `own` when it is
  /// newer than every node's counters, or when there are no nodes.
  package static func gathered(_ own: String?, ofNodes nodes: some Sequence<String>, at now: Instant) -> String? {
    guard
      let last = nodes.max(by: {
        (keptTime(of: $0) ?? Instant(milliseconds: .min)) < (keptTime(of: $1) ?? Instant(milliseconds: .min))
      }),
      let time = keptTime(of: last), time > own.flatMap(keptTime) ?? Instant(milliseconds: .min)
    else { return own }
    let days = ([own].compactMap(\.self) + Array(nodes)).compactMap { DayNumbers(keptAs: $0, at: now) }
    guard var day = days.first else { return last }
    for other in days.dropFirst() { day.add(other) }
    day.times = day.times.suffix(mostTimes)
    return day.text(at: time)
  }

  /// Reads stored counters; nil when they are not of the day of `now` or cannot be read.
  package init?(keptAs text: String, at now: Instant) {
    guard let document = try? JSONValue(reading: text).object,
      let since = document["since"]?.int64.map(Instant.init(milliseconds:)),
      Self.dayStart(since) == Self.dayStart(now),
      let counts = document["counts"]?.object, let approvals = document["approvals"]?.object,
      let started = document["started"]?.array, let approved = document["approved"]?.array,
      (1...24).contains(started.count), started.count == approved.count,
      let times = document["times"]?.array, times.count <= Self.mostTimes
    else { return nil }
    self.init(from: since)
    for (place, pair) in zip(started, approved).enumerated() {
      guard let started = pair.0.count, let approved = pair.1.count else { return nil }
      if place > 0 { hours.append(Hour(start: hours[place - 1].start + Self.anHour)) }
      hours[place].started = started
      hours[place].approved = approved
    }
    for member in counts.members {
      // An event that this version no longer counts is skipped; the other counters remain usable.
      guard let event = ServiceMetrics.Event(rawValue: member.name) else { continue }
      guard let count = member.value.count else { return nil }
      self.counts[event] = count
    }
    guard let approvals = Self.byProvider(approvals),
      // Older versions did not write the member `withoutCode`.
      let withoutCode = Self.byProvider(document["withoutCode"]?.object ?? [:])
    else { return nil }
    self.approvals = approvals
    self.withoutCode = withoutCode
    for time in times {
      guard let milliseconds = time.int64, milliseconds > 0 else { return nil }
      self.times.append(milliseconds)
    }
  }
}

extension DayNumbers {
  private static func byProvider(_ object: JSONObject) -> [ProviderID: Int]? {
    var counts: [ProviderID: Int] = [:]
    for member in object.members.prefix(mostProviders) {
      guard let provider = ProviderID(member.name), let count = member.value.count else {
        return nil
      }
      counts[provider] = count
    }
    return counts
  }
}

extension JSONValue {
  /// The JSON value as a number of events; nil outside 0 … 10¹², so that adding to it cannot overflow.
  fileprivate var count: Int? {
    guard let number = int64, (0...1_000_000_000_000).contains(number) else { return nil }
    return Int(number)
  }
}
