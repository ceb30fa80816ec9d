import Administration
import CommandKit
import RegentPairing

// Completions from the running service. If it does not run, nothing is offered and no error is printed.

extension Input {
  /// Completes with the ids of the requestors.
  func completedByRequestors(also words: [Candidate] = []) -> Input {
    completed { request in
      let all = try? await Connection.admin(request).requestors()
      return words + (all ?? []).map { Candidate($0.id.text, $0.name) }
    }
  }

  /// Completes with the ids of the providers.
  func completedByProviders(
    where fits: @escaping @Sendable (Provider) -> Bool = { _ in true }
  ) -> Input {
    completed { request in
      let all = try? await Connection.admin(request).providers()
      return (all ?? []).filter(fits).map { Candidate($0.id.text, $0.name) }
    }
  }

  /// Completes with the accounts of a provider that was typed before.
  func completedByAccounts(
    of provider: @escaping @Sendable (CompletionRequest) -> ProviderID?
  ) -> Input {
    completed { request in
      guard let provider = provider(request) else { return [] }
      let all = try? await Connection.admin(request).accounts(of: provider)
      return (all ?? []).map { Candidate($0.name.text, $0.household?.text ?? "") }
    }
  }

  /// Completes with the key pairs that are in one of the states.
  func completedByKeys(in states: Set<String>) -> Input {
    completed { request in
      let admin = Connection.admin(request)
      var candidates: [Candidate] = []
      for requestor in (try? await admin.requestors()) ?? [] {
        let keys = (try? await admin.keys(of: requestor.id)) ?? []
        candidates += keys.filter { states.contains($0.state) }.map {
          Candidate($0.publicKey.text, "\($0.requestor) \($0.purpose)")
        }
      }
      return candidates
    }
  }

  /// Completes with the entries of a list call.
  func completed<Entry: Sendable>(
    from list: @escaping @Sendable (AdminClient) async throws(AdminError) -> [Entry],
    as candidate: @escaping @Sendable (Entry) -> Candidate
  ) -> Input {
    completed { request in
      let all = try? await list(Connection.admin(request))
      return (all ?? []).map(candidate)
    }
  }
}
