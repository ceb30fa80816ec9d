import PairingStore
import RegentPairing

extension StoreConformance {
  /// What one verb ends while others stand on it: a store may run them in one transaction, and ask for all of them
  /// before the first one writes.
  static let togetherChecks = [
    ConformanceCheck("a requestor that goes while its boxes ask for codes leaves none of them") { stage in
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
    ConformanceCheck("a session that ends while it claims codes holds none of them") { stage in
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
    ConformanceCheck("a code that is taken back while it is opened stays so") { stage in
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
    ConformanceCheck("a text that cannot be kept is refused as such, and nothing beside it") { stage in
      let results = try await stage.together(16) { number in
        let id = try ConformanceFixture.name("MORE-\(number)") as RequestorID
        try await stage.put(.requestor(Requestor(id: id, name: number == 4 ? "a zero\0byte" : "\(number)")))
      }
      // Some databases keep it.
      let refused = results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
      try expect(refused.isEmpty || refused == [.unkeepable(what: "a text with a zero byte")], "refused: \(refused)")
    },
  ]
}
