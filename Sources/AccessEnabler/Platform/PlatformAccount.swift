/// The box's TV provider account, as an app may see it: look at any time, ask the viewer when it is worth it.
///
/// An enabler uses the account by itself; this is for an app's own screens. Explain what it is good for to viewers who
/// refuse, and ask only after something that they did.
///
/// ```swift
/// let account = PlatformAccount(requestor: "SPORT")
/// if try await account?.access(prompt: true) == .granted { enabler.setRequestor("SPORT") }
/// ```
public final class PlatformAccount: Sendable {
  private let link: PlatformLink
  private let requestor: String

  /// The account, for one requestor of this app's; nothing when the box has no daemon.
  public init?(requestor: String, at place: PlatformAccountPlace = .usual) {
    guard let link = PlatformLink(place), link.isThere else { return nil }
    self.link = link
    self.requestor = requestor
  }

  deinit { link.close() }

  /// How this app stands; nothing is asked of the viewer.
  ///
  /// - Returns: nil when this program is no app of the box.
  /// - Throws: ``EntitlementError`` when the daemon does not answer.
  public func status() async throws(EntitlementError) -> PlatformStatus? {
    try status(from: await link.answer(to: .status, for: requestor, within: .seconds(1)))
  }

  /// What this app may do; with `prompt`, and when nobody has decided yet, the viewer is asked on the box.
  ///
  /// - Parameters:
  ///   - prompt: whether the viewer may be asked. Once a minute; a viewer who said no is not asked again.
  ///   - wait: how long the decision is waited for.
  /// - Returns: the permission; undetermined also for a program that is no app of the box.
  /// - Throws: ``EntitlementError`` when the daemon does not answer.
  public func access(
    prompt: Bool = false, wait: Duration = .seconds(55)
  ) async throws(EntitlementError) -> PlatformPermission {
    let seconds = prompt ? max(0, min(55, wait.components.seconds)) : 0
    let question = PlatformQuestion.access(prompt: prompt, wait: seconds)
    let answer = await link.answer(to: question, for: requestor, within: .seconds(seconds + 2))
    return try status(from: answer)?.permission ?? .undetermined
  }

  /// Asks the viewer on the box to sign it out, or to take the account from this app.
  ///
  /// For an app whose viewer signed out (VSA203): its next start signs in again by itself otherwise. Once a minute.
  ///
  /// - Parameter wait: how long the answer is waited for.
  /// - Returns: whether this app is out for good: the box is signed out, or this app may not use its account.
  /// - Throws: ``EntitlementError`` when the daemon does not answer.
  public func askToSignOut(wait: Duration = .seconds(55)) async throws(EntitlementError) -> Bool {
    let seconds = max(0, min(55, wait.components.seconds))
    let answer = await link.answer(to: .signOut(wait: seconds), for: requestor, within: .seconds(seconds + 2))
    return try status(from: answer).map { $0.permission != .granted || !$0.isSignedIn } ?? true
  }

  private func status(from answer: PlatformAnswer) throws(EntitlementError) -> PlatformStatus? {
    switch answer {
    case .status(let status): return status
    case .absent: return nil
    case .silent(let why), .refused(_, let why): throw EntitlementError(.unreachable, message: why)
    default: throw EntitlementError(.service)
    }
  }
}
