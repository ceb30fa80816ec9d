import AccessEnabler
import CommandKit
import RegentJSON
import RegentPlatform

/// Stores the viewer's decisions on disk.
///
/// A decision takes effect once it is durable on disk.
///
/// A permission that could not be written does not take effect, and the viewer is asked again. A refusal takes effect
/// even if it could not be written, and is sent to the service; after a restart the stored decision applies. A file
/// that is malformed, belongs to another user or is accessible to others counts as lost: refusals that the service has
/// still apply, permissions do not. If the disk fails, opening throws, because the file may still be intact.
final class PermissionStore: Sendable {
  private struct PermissionStoreState: Sendable {
    var book: PermissionBook
    /// A counter of the decisions and confirmations of this process.
    var revision = 0
    /// The revision of each app's latest decision.
    ///
    /// A list that the service made before that revision is ignored for that app.
    var revisions: [AppRequestor: Int] = [:]

    mutating func note(_ who: AppRequestor) {
      revision += 1
      revisions[who] = revision
    }
  }

  private let path: String
  private let state: Locked<PermissionStoreState>
  private let wallClock: @Sendable () -> Int64
  private let reason: String

  /// Why the decisions of an earlier run are lost, until the service's decisions replace them; nil if they are not.
  var trouble: String? {
    guard state.withLock(\.book.isLost) else { return nil }
    return "\(reason): the decisions are lost, and every app must ask the viewer again"
  }

  /// Opens the store of decisions in an existing private folder.
  init(
    folder: String, wallClock: @escaping @Sendable () -> Int64 = { Clocks.wallMilliseconds() }
  ) throws(FileError) {
    path = "\(folder)/permissions"
    self.wallClock = wallClock
    var bytes: [UInt8]?
    var why = "\(path) cannot be read"
    do throws(FileError) {
      bytes = try DurableFile.read(path, limit: 1_048_576, widest: 0o600)
    } catch {
      switch error.kind {
      case .missing: break
      case .tooLarge: bytes = []
      case .modeTooWide, .foreignOwner:
        bytes = []
        why = error.description
      case .system(let cause) where cause.isAboutRights: bytes = []
      default: throw error
      }
    }
    var book = PermissionBook()
    if let bytes {
      let read = PermissionBook(reading: bytes)
      book = read ?? book
      book.isLost = read?.isLost ?? true
    }
    state = Locked(PermissionStoreState(book: book))
    reason = why
  }

  func permission(of who: AppRequestor) -> PlatformPermission { state.withLock { $0.book[who] } }

  var decisions: [AppRequestor: PlatformPermission] { state.withLock { $0.book.decisions } }

  var untold: [UntoldDecision] { state.withLock { $0.book.toTell } }

  /// A counter that grows when the viewer makes a decision about an app, and when the service confirms one.
  ///
  /// Read it before requesting the service's decisions, and pass it to `takeOver`. That function then ignores the
  /// service's decision about an app for which the box has stored a newer one meanwhile.
  var revision: Int { state.withLock { $0.revision } }

  /// Stores a decision of the viewer.
  ///
  /// When this returns, the decision survives a power cut.
  ///
  /// - Returns: the permission before the decision.
  @discardableResult
  func decide(_ permission: PlatformPermission, _ who: AppRequestor) throws(CommandError) -> PlatformPermission {
    let result = state.withLock { state -> Result<PlatformPermission, CommandError> in
      guard let next = state.book.deciding(permission, who, at: wallClock()) else {
        return .failure(
          CommandError(
            "this box already stores \(PermissionBook.most) app permissions, which is the limit",
            hint: "list them with regent sso permissions, then remove one with regent sso reset APP", code: "full"))
      }
      let before = state.book[who]
      let error = write(next, over: state.book)
      if error == nil || permission != .granted {
        state.note(who)
        state.book = next
      }
      return error.map { .failure($0) } ?? .success(before)
    }
    return try result.get()
  }

  /// Notes that the service has confirmed a decision.
  func told(_ decision: UntoldDecision) {
    state.withLock { state in
      state.note(decision.who)
      let next = state.book.telling(decision)
      // If the confirmation cannot be written, the decision is sent again after a restart. The service sees from the
      // decision's time that it is old, and changes nothing.
      _ = write(next, over: state.book)
      state.book = next
    }
  }

  /// Takes over the service's decisions, except about apps for which the box made a decision after `revision`.
  ///
  /// - Returns: the apps whose permission has changed.
  func takeOver(
    _ news: [AppRequestor: PlatformPermission], asOf revision: Int
  ) throws(CommandError) -> [AppRequestor] {
    let result = state.withLock { state -> Result<[AppRequestor], CommandError> in
      let known = news.filter { state.revisions[$0.key] ?? 0 <= revision }
      var next = state.book.takingOver(known, at: wallClock())
      next.isLost = false
      if let error = write(next, over: state.book) {
        state.book = state.book.takingOver(known.filter { $0.value != .granted }, at: wallClock())
        return .failure(error)
      }
      let changed = news.keys.filter { next[$0] != state.book[$0] }
      state.book = next
      return .success(changed)
    }
    return try result.get()
  }

  /// Assigns the permissions to this viewer's account, even if that cannot be written to disk.
  ///
  /// - Returns: the apps whose permission by another viewer was revoked.
  func belong(to viewer: String) -> [AppRequestor] {
    state.withLock { state in
      guard state.book.viewer != viewer else { return [] }
      let next = state.book.belonging(to: viewer, at: wallClock())
      let takenBack = state.book.decisions.keys.filter { next[$0] != state.book[$0] }
      for who in takenBack { state.note(who) }
      _ = write(next, over: state.book)
      state.book = next
      return takenBack
    }
  }

  private func write(_ next: PermissionBook, over book: PermissionBook) -> CommandError? {
    guard next != book else { return nil }
    do throws(FileError) {
      try DurableFile.write(next.document.bytes(), to: path)
      return nil
    } catch {
      // If only the sync of the folder failed, the new file exists but may not survive a power cut. So the old contents
      // are written again.
      try? DurableFile.write(book.document.bytes(), to: path)
      return CommandError("the permission could not be stored: \(error.description)", hint: error.hint, code: "storage")
    }
  }
}
