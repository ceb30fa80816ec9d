import Administration
import CommandKit
import RegentPairing

// What a shell offers, asked of the running service. Where none runs, nothing is offered and nothing is said.

extension Input {
  /// Offers the requestors there are.
  func completedByRequestors(also words: [Candidate] = []) -> Input {
    completed { request in
      let all = try? await Connection.admin(request).requestors()
      return words + (all ?? []).map { Candidate($0.id.text, $0.name) }
    }
  }

  /// Offers the providers there are.
  func completedByProviders(
    where fits: @escaping @Sendable (Provider) -> Bool = { _ in true }
  ) -> Input {
    completed { request in
      let all = try? await Connection.admin(request).providers()
      return (all ?? []).filter(fits).map { Candidate($0.id.text, $0.name) }
    }
  }

  /// Offers the accounts of a provider that was named before.
  func completedByAccounts(
    of provider: @escaping @Sendable (CompletionRequest) -> ProviderID?
  ) -> Input {
    completed { request in
      guard let provider = provider(request) else { return [] }
      let all = try? await Connection.admin(request).accounts(of: provider)
      return (all ?? []).map { Candidate($0.name.text, $0.household?.text ?? "") }
    }
  }

  /// Offers the key pairs of all requestors that are in a state.
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

  /// Offers what a call lists.
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
