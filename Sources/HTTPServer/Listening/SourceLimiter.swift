internal import RegentHTTPCodec
internal import RegentPlatform

/// Whom a connection is counted for.
enum CountedSource: Hashable, Sendable {
  /// An address, until the connection completes a valid request: what a slow attack consists of never does.
  case address(IPAddress)
  /// A user of this machine, until the connection ends: a program may hold a place with valid requests, too.
  case user(UInt32)
}

/// Counts the connections of each source, and refuses those beyond its share.
final class SourceLimiter: Sendable {
  private let perAddress: Int
  private let perUser: Int
  private let allUsers: Int
  private let state = Locked(State())

  private struct State: Sendable {
    var counts: [CountedSource: Int] = [:]
    /// The connections of all users together.
    var users = 0
  }

  init(_ configuration: ServerConfiguration) {
    perAddress = configuration.unprovenConnectionsPerSource
    perUser = configuration.connectionsPerUser
    allUsers = configuration.connectionsOfUsers
  }

  /// Counts one more connection of `source`, or refuses it.
  func admit(_ source: CountedSource) -> Bool {
    state.withLock { state in
      let count = state.counts[source, default: 0]
      switch source {
      case .address: guard count < perAddress else { return false }
      case .user:
        guard count < perUser, state.users < allUsers else { return false }
        state.users += 1
      }
      state.counts[source] = count + 1
      return true
    }
  }

  /// The connection proved itself or is gone.
  func release(_ source: CountedSource) {
    state.withLock { state in
      let count = state.counts[source, default: 0]
      // An entry that fell to nothing is removed, so that passing sources leave no memory behind.
      state.counts[source] = count > 1 ? count - 1 : nil
      if case .user = source { state.users -= 1 }
    }
  }
}
