import CommandKit
import RegentPlatform

/// A sign-in on a box whose disk is full or read-only.
///
/// The screen says so, and the sign-in starts as soon as the disk can be written.
final class LateLink: PairLink {
  typealias NewLink = @Sendable () throws(CommandError) -> any PairLink

  private let newLink: NewLink
  private let failure: CommandError
  private let work = LinkWork()
  private let link = Locked<(any PairLink)?>(nil)

  /// Returns the sign-in itself if it can start now.
  ///
  /// Otherwise returns one that waits until the disk can be written.
  static func link(_ newLink: @escaping NewLink) throws(CommandError) -> any PairLink {
    do throws(CommandError) {
      return try newLink()
    } catch {
      guard error.isAboutDisk else { throw error }
      return LateLink(newLink, error)
    }
  }

  private init(_ newLink: @escaping NewLink, _ failure: CommandError) {
    self.newLink = newLink
    self.failure = failure
  }

  func requestCode(provider: String?) { work.requestCode(provider: provider) }

  func events() -> AsyncStream<LinkEvent> { work.events(of: serve) }

  func withdraw() async {
    await link.withLock { $0 }?.withdraw()
    work.cancel()
  }

  private func serve(_ sink: AsyncStream<LinkEvent>.Continuation) async {
    guard let link = await begun(sink) else { return }
    self.link.withLock { $0 = link }
    let requests = Task { for await provider in work.codeRequests { link.requestCode(provider: provider) } }
    for await event in link.events() { sink.yield(event) }
    requests.cancel()
  }

  private func begun(_ sink: AsyncStream<LinkEvent>.Continuation) async -> (any PairLink)? {
    var (failure, backoff) = (failure, Backoff())
    while !Task.isCancelled {
      guard failure.isAboutDisk else {
        sink.yield(.failed(AgentFailure(failure)))
        return nil
      }
      sink.yield(.trouble(AgentFailure(failure)))
      try? await Task.sleep(for: backoff.next())
      do throws(CommandError) {
        return try newLink()
      } catch {
        failure = error
      }
    }
    return nil
  }
}

extension CommandError {
  /// An error about the disk that holds the state.
  ///
  /// The disk may be full, or mounted read-only.
  init(state error: FileError) {
    var code = "failed"
    if case .system(let system) = error.kind {
      if system.isReadOnly { code = "read-only" } else if system.isFull { code = "storage" }
    }
    self.init("--state: \(error.description)", hint: error.hint, code: code)
  }

  fileprivate var isAboutDisk: Bool { code == "storage" || code == "read-only" }
}

extension AgentFailure {
  fileprivate init(_ error: CommandError) {
    let trouble: PairingObstacle =
      switch error.code {
      case "storage": .storage
      case "read-only": .readOnly
      default: .service
      }
    self.init(code: error.code, message: error.message, hint: error.hint, trouble: trouble)
  }
}
