internal import RegentHTTPCodec
internal import RegentPlatform

/// The source for which a connection counts, so that one source cannot use all connections.
enum CountedSource: Hashable, Sendable {
  /// A client address, while its connection has not sent a valid request yet or has an unfinished request or response.
  case address(IPAddress)
  /// The IPv6 /48 of such addresses, all of which one subscriber may own. A connection never has this as its own
  /// source.
  case subscriber(IPAddress)
  /// A user of this machine, until the connection ends, because a program can keep a connection with valid requests,
  /// too.
  case user(UInt32)
  /// All members of a group that the settings name.
  ///
  /// A user who controls many user ids could use the group with each of them, so the group has one common limit.
  case group(UInt32)
  /// A user of this machine who is not in the settings, if the settings name users. All such users together have the
  /// limit of one user.
  case stranger(UInt32)
}

extension CountedSource {
  /// The subscriber's whole network, if the source is an IPv6 /64.
  fileprivate var subscriber: CountedSource? {
    guard case .address(let address) = self, !address.isIPv4 else { return nil }
    return .subscriber(address.network(leadingBits: 48))
  }

  /// The source for which buffered bytes count.
  fileprivate var ofBytes: CountedSource { subscriber ?? self }
}

/// Counts the connections and the buffered bytes of each source, and refuses those beyond its limit.
///
/// A source has an entry only while it has connections or bytes, so the limiter uses no memory for other sources.
final class SourceLimiter: Sendable {
  /// The limit of an IPv6 /48 is this many times that of a /64.
  private static let subscriberFactor = 4

  private let perAddress: Int
  private let perUser: Int
  private let allUsers: Int
  private let budget: Int
  private let state = Locked(SourceLimiterState())

  private struct Share: Sendable {
    var connections = 0
    var bytes = 0
  }

  private struct SourceLimiterState: Sendable {
    var shares: [CountedSource: Share] = [:]
    /// The number of connections of all users.
    var users = 0
    /// The number of connections of users who are not in the settings; included in `users`.
    var strangers = 0
    /// The buffered bytes of all sources, including connections without a source.
    var bytes = 0

    /// Counts a connection for a subscriber, unless it has `limit` of them.
    mutating func admit(_ subscriber: CountedSource?, below limit: Int) -> Bool {
      guard let subscriber else { return true }
      guard shares[subscriber, default: Share()].connections < limit else { return false }
      shares[subscriber, default: Share()].connections += 1
      return true
    }

    mutating func release(_ subscriber: CountedSource?) {
      guard let subscriber, var share = shares[subscriber] else { return }
      share.connections -= 1
      keep(share, of: subscriber)
    }

    mutating func keep(_ share: Share, of source: CountedSource) {
      shares[source] = share.connections > 0 || share.bytes > 0 ? share : nil
    }
  }

  init(_ configuration: ServerConfiguration) {
    // With few connections, the limit for one address would otherwise be above that for all.
    perAddress = min(configuration.unprovenConnectionsPerSource, max(8, configuration.connections / 4))
    perUser = configuration.connectionsPerUser
    allUsers = configuration.connectionsOfUsers
    budget = configuration.bufferedBytes
  }

  /// Counts a new connection of `source`; returns false if the source is at its limit.
  func admit(_ source: CountedSource) -> Bool {
    state.withLock { state in
      var share = state.shares[source] ?? Share()
      switch source {
      case .address:
        guard share.connections < perAddress else { return false }
        guard state.admit(source.subscriber, below: perAddress * Self.subscriberFactor) else { return false }
      case .subscriber: return false
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

  /// Stops counting a connection for a source, because the connection sent a valid request, finished its request and
  /// response, or ended.
  func release(_ source: CountedSource) {
    state.withLock { state in
      guard var share = state.shares[source] else { return }
      share.connections -= 1
      state.keep(share, of: source)
      switch source {
      case .address: state.release(source.subscriber)
      case .subscriber: break
      case .user, .group: state.users -= 1
      case .stranger:
        state.users -= 1
        state.strangers -= 1
      }
    }
  }

  /// Counts buffered bytes for `source`; returns false if they exceed its limit.
  ///
  /// A source may buffer at most as many bytes as remain free. Thus one source alone gets half of the budget, three
  /// sources get a quarter each, and a part always remains for the next source. A connection without a source, such as
  /// that of a trusted proxy, which carries many clients, may use the whole budget.
  func charge(_ bytes: Int, to source: CountedSource?) -> Bool {
    state.withLock { state in
      let free = budget - state.bytes - bytes
      guard free >= 0 else { return false }
      if let source = source?.ofBytes {
        var share = state.shares[source] ?? Share()
        share.bytes += bytes
        guard share.bytes <= free else { return false }
        state.shares[source] = share
      }
      state.bytes += bytes
      return true
    }
  }

  /// Stops counting buffered bytes of `source`, because they were sent, processed or dropped.
  func discharge(_ bytes: Int, from source: CountedSource?) {
    state.withLock { state in
      state.bytes -= bytes
      guard let source = source?.ofBytes, var share = state.shares[source] else { return }
      share.bytes -= bytes
      state.keep(share, of: source)
    }
  }

  /// The number of bytes that are buffered now.
  var bytes: Int { state.withLock { $0.bytes } }
}
