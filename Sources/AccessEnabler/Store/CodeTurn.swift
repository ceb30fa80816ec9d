import RegentPairing
import RegentPlatform

/// The right to ask for a code on a store that several processes share.
///
/// The service knows one code of a device at a time: of two processes that ask at the same moment one would lose the
/// code that is on its screen. So one asks, and the other goes on with what it got.
final class CodeTurn: Sendable {
  private let lock: FileLock

  init(_ lock: consuming FileLock) { self.lock = lock }
}

extension TokenStore {
  /// How often and how long the others are looked at before this process asks nevertheless: together two seconds.
  private static let looks = 40
  private static let pause = Duration.milliseconds(50)

  /// Makes a call; one for a new code first finds out whether another process has just got one.
  ///
  /// - Parameters:
  ///   - call: the call.
  ///   - clock: for judging whether a code is still good.
  ///   - perform: makes a call.
  /// - Returns: what came of it, and a turn to be kept until the code is on disk.
  func takingTurns(
    _ call: OutgoingCall, at clock: ServerClock,
    _ perform: (OutgoingCall) async -> ServiceCaller.Outcome
  ) async -> (ServiceCaller.Outcome, CodeTurn?) {
    guard case .createCode(let provider, _, let replaced) = call.operation, let turn = await turn()
    else { return (await perform(call), nil) }
    // A damaged store has no code to go on with; the call of the app that comes next tells of it.
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
        // Only another holder is worth waiting for.
        guard case .held = error.kind else { return nil }
        try? await Task.sleep(for: Self.pause)
      }
    }
    return nil
  }
}
