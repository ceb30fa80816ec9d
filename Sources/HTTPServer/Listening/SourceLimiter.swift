internal import RegentHTTPCodec
internal import RegentPlatform

/// Whom a connection is counted for.
enum CountedSource: Hashable, Sendable {
  /// An address, while a connection has not completed a valid request, or has something unfinished.
  case address(IPAddress)
  /// A user of this machine, until the connection ends: a program may hold a place with valid requests, too.
  case user(UInt32)
  /// The members of a group that the settings name: a user with many numbers may bring his groups along with each.
  case group(UInt32)
  /// A user whom the settings do not name, where they name users.
  case stranger(UInt32)
}

/// Counts what each source holds, connections and bytes, and refuses what is beyond its share.
///
/// An entry lives as long as its source holds something: passing sources leave no memory behind.
final class SourceLimiter: Sendable {
  private let perAddress: Int
  private let perUser: Int
  private let allUsers: Int
  private let budget: Int
  private let state = Locked(State())

  private struct Share: Sendable {
    var connections = 0
    var bytes = 0
  }

  private struct State: Sendable {
    var shares: [CountedSource: Share] = [:]
    /// The connections of all users together.
    var users = 0
    /// Those of users whom the settings do not name, among them.
    var strangers = 0
    /// The buffered bytes of all sources, counted or not.
    var bytes = 0

    mutating func keep(_ share: Share, of source: CountedSource) {
      shares[source] = share.connections > 0 || share.bytes > 0 ? share : nil
    }
  }

  init(_ configuration: ServerConfiguration) {
    perAddress = configuration.unprovenConnectionsPerSource
    perUser = configuration.connectionsPerUser
    allUsers = configuration.connectionsOfUsers
    budget = configuration.bufferedBytes
  }

  /// Counts one more connection of `source`, or refuses it.
  func admit(_ source: CountedSource) -> Bool {
    state.withLock { state in
      var share = state.shares[source] ?? Share()
      switch source {
      case .address: guard share.connections < perAddress else { return false }
      case .user, .group:
        guard share.connections < perUser, state.users < allUsers else { return false }
        state.users += 1
      case .stranger:
        guard state.strangers < perUser, state.users < allUsers else { return false }
        state.users += 1
        state.strangers += 1
      }
      share.connections += 1
      state.shares[source] = share
      return true
    }
  }

  /// The connection proved itself, finished what it had begun, or is gone.
  func release(_ source: CountedSource) {
    state.withLock { state in
      guard var share = state.shares[source] else { return }
      share.connections -= 1
      state.keep(share, of: source)
      switch source {
      case .address: break
      case .user, .group: state.users -= 1
      case .stranger:
        state.users -= 1
        state.strangers -= 1
      }
    }
  }

  /// Counts `bytes` more that are buffered for `source`, or refuses them.
  ///
  /// A source may have as many as are free beside it: one alone gets half of all, three a quarter each, and however
  /// many share in it, something is left for the next. Whom nobody counts (a trusted proxy, who speaks for many) may
  /// have all.
  func charge(_ bytes: Int, to source: CountedSource?) -> Bool {
    state.withLock { state in
      let free = budget - state.bytes - bytes
      guard free >= 0 else { return false }
      if let source {
        var share = state.shares[source] ?? Share()
        share.bytes += bytes
        guard share.bytes <= free else { return false }
        state.shares[source] = share
      }
      state.bytes += bytes
      return true
    }
  }

  /// That many bytes of `source` were sent, answered or dropped.
  func discharge(_ bytes: Int, from source: CountedSource?) {
    state.withLock { state in
      state.bytes -= bytes
      guard let source, var share = state.shares[source] else { return }
      share.bytes -= bytes
      state.keep(share, of: source)
    }
  }

  /// The bytes that are buffered now.
  var bytes: Int { state.withLock { $0.bytes } }
}
