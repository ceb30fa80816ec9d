import PairingStore
import RegentPairing

extension StoreConformance {
  /// Concurrent calls where one ends what the others depend on.
  ///
  /// A store may run them in one transaction, and may then prefetch the rows of all before the first one writes.
  static let togetherChecks = [
    ConformanceCheck("removing a requestor while its boxes reserve codes leaves no code") { stage in
      let results = try await stage.together(64) { number in
        if number == 16 {
          _ = try await stage.store.remove(.requestor(stage.requestor), audit: nil, at: stage.at(1))
        } else {
          try await stage.reserve(stage.registration(number, device: number))
        }
      }
      let left = try await stage.store.registrations(after: nil, limit: 100, at: stage.at(1))
      try expect(left.isEmpty, "\(left.count) are left of \(results.successes().count)")
    },
    ConformanceCheck("a session that ends while it claims codes keeps none of them claimed") { stage in
      for round in 1...4 {
        let records = try (1...16).map { try stage.registration(100 * round + $0, device: $0) }
        for record in records { try await stage.reserve(record) }
        let session = try await stage.session(round, as: stage.ann)
        _ = try await stage.together(17) { number in
          if number == 4 {
            _ = try await stage.store.endSession(session, audit: nil, at: stage.at(2))
          } else if number < 16 {
            _ = try await stage.store.claim(records[number].id, by: session, at: stage.at(1))
          }
        }
        for record in records {
          let status = try await stage.status(record, second: 2)
          try expect(status != .claimed, "round \(round): \(record.id) is held by a session that is over")
        }
      }
    },
    ConformanceCheck("a code that is withdrawn while it is opened stays withdrawn") { stage in
      for round in 1...4 {
        let record = try stage.registration(round, device: round)
        try await stage.reserve(record)
        _ = try await stage.together(16) { number in
          if number == 4 {
            _ = try await stage.store.withdraw(record.id, .newerCode, audit: nil, at: stage.at(1))
          } else {
            _ = try await stage.store.open(record.id, at: stage.at(1))
          }
        }
        let status = try await stage.status(record, second: 2)
        try expect(status == .withdrawn, "round \(round): is \(status)")
      }
    },
    ConformanceCheck("after an account is disabled no approval is written, and each code is approved at most once") {
      stage in
      @Sendable func line(_ text: String) -> AuditEntry {
        AuditEntry(at: stage.at(1), actor: .service, action: "test", subject: "code", outcome: .done, detail: text)
      }
      for round in 1...3 {
        let records = try (1...24).map { try stage.registration(100 * round + $0, device: $0) }
        for record in records { try await stage.reserve(record) }
        let (on, off) = try (stage.account(stage.ann), stage.account(stage.ann, isDisabled: true))
        // Each code is approved twice. One approval is refused, perhaps between others in the same transaction.
        let results = try await stage.together(49) { number -> RegistrationID? in
          if number == 8 * round {
            _ = try await stage.store.put(
              .account(off), replacing: .account(on), audit: line("disabled \(round)"), at: stage.at(1))
            return nil
          }
          let record = records[(number - (number > 8 * round ? 1 : 0)) / 2]
          return try await stage.store.approve(
            record.id, stage.order(for: stage.ann, as: 100 * round + number), audit: line("yes \(round)"),
            at: stage.at(1)
          ).change.record.id
        }
        let approved = results.successes().compactMap(\.self)
        try expect(Set(approved).count == approved.count, "round \(round): a code was approved twice")
        let lines = try await stage.store.audit(after: 0, limit: 1_000).map(\.entry.detail)
        let disabled = try found(lines.firstIndex(of: "disabled \(round)"), "the line of the account")
        try expect(disabled == lines.count - 1, "round \(round): \(lines.count - 1 - disabled) lines behind it")
        let yes = lines.count { $0 == "yes \(round)" }
        try expect(yes == approved.count, "round \(round): \(yes) lines of \(approved.count)")
        _ = try await stage.store.put(.account(on), replacing: .account(off), audit: nil, at: stage.at(2))
      }
    },
    ConformanceCheck("a text that the database cannot store is refused, and concurrent changes succeed") { stage in
      let results = try await stage.together(16) { number in
        let id = try ConformanceFixture.name("MORE-\(number)") as RequestorID
        try await stage.put(.requestor(Requestor(id: id, name: number == 4 ? "a zero\0byte" : "\(number)")))
      }
      // Some databases can store a zero byte.
      let refused = results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
      try expect(refused.isEmpty || refused == [.unkeepable(what: "a text with a zero byte")], "refused: \(refused)")
    },
  ]
}
