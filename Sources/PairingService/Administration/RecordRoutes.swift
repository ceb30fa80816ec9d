internal import Administration
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

// Admin routes for the audit log and the statistics.

extension AdminRouteBuilder {
  mutating func mountAudit() {
    on(.get, AdminPaths.audit) { call throws(AdminError) in
      let text = try call.parameter("after") ?? "0"
      guard let after = Int64(text), after >= 0 else {
        throw AdminError(.invalid, "the parameter \"after\" must be a number from 0")
      }
      let limit = try call.limit()
      let lines = try await stored { () throws(StoreError) in
        try await call.core.store.audit(after: after, limit: limit)
      }
      return .list(of: lines.map(AuditLine.init))
    }
    on(.get, AdminPaths.newestAudit) { call throws(AdminError) in
      let number = try await stored { () throws(StoreError) in
        try await call.core.store.newestAuditNumber()
      }
      return .document(CountDocument(Int(clamping: number)))
    }
  }

  mutating func mountNumbers() {
    on(.get, AdminPaths.stats) { call throws(AdminError) in .document(try await call.stats()) }
  }
}

extension AuditLine {
  init(_ line: NumberedAuditEntry) {
    let entry = line.entry
    self.init(
      number: line.number, at: entry.at, actor: entry.actor.title, action: entry.action,
      subject: entry.subject, outcome: entry.outcome.rawValue, detail: entry.detail)
  }
}

extension AuditEntry.Actor {
  fileprivate var title: String {
    switch self {
    case .operator(let name): "operator \(name)"
    case .viewer(let viewer): "viewer \(viewer.title)"
    case .device(let requestor): "device \(requestor)"
    case .service: "service"
    }
  }
}

extension AdminCall {
  /// The number of pending registration codes.
  ///
  /// A node that shares the store holds in memory only the codes that its own clients asked for, so the store counts
  /// them.
  func liveCodes() async throws(AdminError) -> Int {
    guard core.store.isShared else { return core.codes.pending }
    return try await stored { () throws(StoreError) in try await core.store.liveCodes(at: now) }
  }

  /// Today's statistics of all nodes together.
  ///
  /// Other nodes store their counters once a minute, so their numbers may be a minute old. On the day on which a single
  /// service becomes several nodes, the counters of the single service are included.
  fileprivate func stats() async throws(AdminError) -> Stats {
    var day = core.metrics.today(at: now)
    var waiting = core.waiters.count
    if let own = core.keeper {
      let (kept, before, nodes) = try await stored { () throws(StoreError) in
        (
          try await core.store.keptNumbersOfNodes(.day), try await core.store.keptNumbers(.day),
          try await core.store.nodes()
        )
      }
      for text in kept.filter({ $0.key != own }).values + [before].compactMap(\.self) {
        if let others = DayNumbers(keptAs: text, at: now) { day.add(others) }
      }
      for node in nodes where node.id != own && node.silence < NodeID.silence {
        waiting += NodeStatusExchange.Said(reading: node.said).waiting
      }
    }
    var stats = Stats(since: day.since)
    stats.started = day[.codesStarted]
    stats.opened = day[.codesOpened]
    stats.approved = day[.codesApproved]
    stats.denied = day[.codesDenied]
    stats.expired = day[.codesExpired]
    stats.withdrawn = day[.codesWithdrawn]
    stats.wrongCodes = day[.wrongCodes]
    stats.medianTimeToApprove = day.medianTimeToApprove
    stats.waiting = waiting
    stats.liveCodes = try await liveCodes()
    stats.providers = Set(day.approvals.keys).union(day.withoutCode.keys).map { provider in
      let approved = day.approvals[provider] ?? 0
      return ProviderCount(
        provider: provider, approved: approved,
        signIns: approved + (day.withoutCode[provider] ?? 0))
    }.sorted { ($1.signIns, $0.provider) < ($0.signIns, $1.provider) }
    stats.hours = day.hours.map {
      HourCount(start: $0.start, started: $0.started, approved: $0.approved)
    }
    return stats
  }
}
