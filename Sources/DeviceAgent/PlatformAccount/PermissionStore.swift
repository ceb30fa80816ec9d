import AccessEnabler
import CommandKit
import RegentJSON
import RegentPlatform

/// The viewer's decisions on disk: durable before they count, at once for everybody afterwards.
///
/// A yes that could not be written does not count: the app is asked about again, never let in. A no counts
/// nevertheless, and the service hears of it; a restart finds what is on the disk. A file that cannot be read, or that
/// is another user's or open to others, is taken for no decisions at all: the no that the service knows hold, its yes
/// do not. A disk that fails is another matter: what it holds is not given up.
final class PermissionStore: Sendable {
  private struct State: Sendable {
    var book: PermissionBook
    /// Counts what was decided and told here.
    var revision = 0
    /// As of which of them an app's decision is: an older list of the service's says nothing about it.
    var revisions: [AppRequestor: Int] = [:]

    mutating func note(_ who: AppRequestor) {
      revision += 1
      revisions[who] = revision
    }
  }

  private let path: String
  private let state: Locked<State>
  private let wallClock: @Sendable () -> Int64
  /// Why the decisions of an earlier run are gone, if they are.
  let trouble: String?

  /// Opens the file in a folder that is there and private.
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
    state = Locked(State(book: book))
    trouble = book.isLost ? "\(why): the decisions are lost, and every app must ask the viewer again" : nil
  }

  func permission(of who: AppRequestor) -> PlatformPermission { state.withLock { $0.book[who] } }

  var decisions: [AppRequestor: PlatformPermission] { state.withLock { $0.book.decisions } }

  var untold: [UntoldDecision] { state.withLock { $0.book.toTell } }

  /// To be read before the service is asked what it knows.
  var revision: Int { state.withLock { $0.revision } }

  /// Decides; when this returns, a power cut does not change it any more.
  ///
  /// - Returns: what was so before.
  @discardableResult
  func decide(_ permission: PlatformPermission, _ who: AppRequestor) throws(CommandError) -> PlatformPermission {
    let result = state.withLock { state -> Result<PlatformPermission, CommandError> in
      guard let next = state.book.deciding(permission, who, at: wallClock()) else {
        return .failure(
          CommandError(
            "there are already \(PermissionBook.most) decisions, which is the limit",
            hint: "remove one: regent sso permissions lists them, regent sso reset APP removes one", code: "full"))
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

  /// The service has heard of a decision.
  func told(_ decision: UntoldDecision) {
    state.withLock { state in
      state.note(decision.who)
      let next = state.book.telling(decision)
      // Where that cannot be written it is told again after a restart, with its time, and changes nothing.
      _ = write(next, over: state.book)
      state.book = next
    }
  }

  /// Takes over what the service says, where it knows as much as this box did at a revision.
  ///
  /// - Returns: the apps whose permission is another one now.
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

  /// The account is that viewer's now; also where that cannot be written.
  ///
  /// - Returns: the apps that another viewer had let in, and that are asked about again.
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
      // When only the folder could not be forced the new file is there, with a fate that nobody knows.
      try? DurableFile.write(book.document.bytes(), to: path)
      return CommandError("the decision could not be stored: \(error.description)", hint: error.hint, code: "storage")
    }
  }
}
