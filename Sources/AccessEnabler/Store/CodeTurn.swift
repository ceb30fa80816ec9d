import RegentPairing
import RegentPlatform

/// Holds the lock for requesting a registration code, in a token store that several processes share.
///
/// The service keeps one code for each device. If two processes requested one at the same moment, the code on one
/// screen would become invalid. So one process requests the code, and the other process shows the same code.
final class CodeTurn: Sendable {
  private let lock: FileLock

  init(_ lock: consuming FileLock) { self.lock = lock }
}

extension TokenStore {
  /// How many times to try the lock that another process holds, before requesting a code without it: two seconds in
  /// all.
  private static let looks = 40
  private static let pause = Duration.milliseconds(50)

  /// Sends a request.
  ///
  /// A request for a new code first checks whether another process has just stored one.
  ///
  /// - Parameters:
  ///   - call: the request.
  ///   - clock: decides whether a stored code is still valid.
  ///   - perform: sends a request.
  /// - Returns: the result, and the lock, which the caller must hold until the code is stored.
  func takingTurns(
    _ call: OutgoingCall, at clock: ServerClock,
    _ perform: (OutgoingCall) async -> ServiceCaller.Outcome
  ) async -> (ServiceCaller.Outcome, CodeTurn?) {
    guard case .createCode(let provider, _, let replaced) = call.operation, let turn = await turn()
    else { return (await perform(call), nil) }
    // A damaged store has no code to use. The app's next call reports the damage.
    _ = refresh()
    if let offer = tokens(of: call.requestor).pending?.offer, clock.now < offer.expires,
      !offer.code.isSameText(as: replaced ?? ""), offer.service.isSameText(as: call.service),
      (offer.provider?.id ?? "").isSameText(as: provider ?? "")
    {
      var look = call
      look.operation = .readCode(offer.code)
      let outcome = await perform(look)
      if case .code(let record) = outcome.answer,
        [.offered, .opened, .claimed].contains(record.status)
      {
        return (outcome, turn)
      }
    }
    return (await perform(call), turn)
  }

  private func turn() async -> CodeTurn? {
    for _ in 0..<Self.looks {
      guard !Task.isCancelled else { return nil }
      do throws(FileError) {
        return try codeTurn()
      } catch {
        // Wait only if another process holds the lock.
        guard case .held = error.kind else { return nil }
        try? await Task.sleep(for: Self.pause)
      }
    }
    return nil
  }
}
