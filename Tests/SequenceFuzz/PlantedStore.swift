import PairingStore
import RegentPairing
import StoreConformance

/// A fault that is deliberately put into the store.
///
/// If the player does not find it, the player proves nothing.
enum PlantedFault: String, CaseIterable {
  /// A browser can claim a code that another browser holds.
  case lease
  /// A code can be approved twice.
  case redeemed
  /// A code that its box withdrew is still pending.
  case withdrawal
}

/// A store with a fault in one operation.
struct PlantedStore: ForwardingStore {
  let target: any Store
  let fault: PlantedFault

  func claim(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    do throws(StoreError) {
      return try await target.claim(id, by: session, at: now)
    } catch {
      guard fault == .lease, case .refused(.claimedByAnother) = error,
        case .claimed(let lease)? = try await target.registration(id, at: now)?.flow.state
      else { throw error }
      _ = try await target.release(id, by: lease.claimer.session, at: now)
      return try await target.claim(id, by: session, at: now)
    }
  }

  func approve(_ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> ApprovalResult
  {
    do throws(StoreError) {
      return try await target.approve(id, request, audit: entry, at: now)
    } catch {
      guard fault == .redeemed, error == .refused(.alreadyApproved),
        let record = try await target.registration(id, at: now)
      else { throw error }
      let change = RegistrationChange(record: record, actions: [.wakeDevice])
      let filter = AuthenticationFilter(device: record.deviceHash)
      let signIn = try await target.authentications(filter, after: nil, limit: 1, at: now).first
      return ApprovalResult(change: change, authentication: signIn)
    }
  }

  func withdraw(_ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    guard fault == .withdrawal, let record = try await target.registration(id, at: now),
      let step = try? record.flow.applying(.withdraw(reason), at: now)
    else { return try await target.withdraw(id, reason, audit: entry, at: now) }
    return RegistrationChange(record: record.moved(to: step.flow), actions: step.actions)
  }
}
