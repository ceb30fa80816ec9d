/// The box's TV provider account as one app sees it: its status, and asking the viewer for permission to use it.
///
/// An enabler uses the account by itself; this class is for an app's own screens. Ask the viewer only after an action
/// of theirs, and explain to a viewer who refuses what the account is for.
///
/// ```swift
/// let account = PlatformAccount(requestor: "SPORT")
/// if try await account?.access(prompt: true) == .granted { enabler.setRequestor("SPORT") }
/// ```
public final class PlatformAccount: Sendable {
  private let link: PlatformLink
  private let requestor: String

  /// The box's account as one requestor sees it; nil if the box has no daemon.
  public init?(requestor: String, at place: PlatformAccountPlace = .usual) {
    guard let link = PlatformLink(place), link.isThere else { return nil }
    self.link = link
    self.requestor = requestor
  }

  deinit { link.close() }

  /// Returns the permission of this app and the sign-in of the box, without asking the viewer.
  ///
  /// - Returns: nil if this program is not one of the box's apps.
  /// - Throws: ``EntitlementError`` if the daemon does not answer.
  public func status() async throws(EntitlementError) -> PlatformStatus? {
    try status(from: await link.answer(to: .status, for: requestor, within: .seconds(1)))
  }

  /// The permission of this app to use the box's account.
  ///
  /// With `prompt`, the viewer is asked on the box if they have not decided yet.
  ///
  /// - Parameters:
  ///   - prompt: whether to ask the viewer. The box asks at most once a minute, and not again after a denial.
  ///   - wait: how long to wait for the viewer's decision, at most 55 seconds.
  /// - Returns: the permission; undetermined also for a program that is not one of the box's apps.
  /// - Throws: ``EntitlementError`` if the daemon does not answer.
  public func access(
    prompt: Bool = false, wait: Duration = .seconds(55)
  ) async throws(EntitlementError) -> PlatformPermission {
    let seconds = prompt ? max(0, min(55, wait.components.seconds)) : 0
    let question = PlatformQuestion.access(prompt: prompt, wait: seconds)
    let answer = await link.answer(to: question, for: requestor, within: .seconds(seconds + 2))
    return try status(from: answer)?.permission ?? .undetermined
  }

  /// Asks the viewer on the box to sign the box out, or to deny this app the account.
  ///
  /// At most once a minute.
  ///
  /// For an app from which the viewer has signed out (VSA203). Without such a decision, the next start of the app signs
  /// it in again.
  ///
  /// - Parameter wait: how long to wait for the viewer's decision, at most 55 seconds.
  /// - Returns: whether this app stays signed out: the box is signed out, or the app may not use its account.
  /// - Throws: ``EntitlementError`` if the daemon does not answer.
  public func askToSignOut(wait: Duration = .seconds(55)) async throws(EntitlementError) -> Bool {
    let seconds = max(0, min(55, wait.components.seconds))
    let answer = await link.answer(to: .signOut(wait: seconds), for: requestor, within: .seconds(seconds + 2))
    return try status(from: answer).map { $0.permission != .granted || !$0.isSignedIn } ?? true
  }

  private func status(from answer: PlatformAnswer) throws(EntitlementError) -> PlatformStatus? {
    switch answer {
    case .status(var status):
      status.failure = status.failure ?? status.refusal
      return status
    case .absent: return nil
    case .silent(let why), .refused(_, let why): throw EntitlementError(.unreachable, message: why)
    default: throw EntitlementError(.service)
    }
  }
}
