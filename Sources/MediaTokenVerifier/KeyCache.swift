import RegentCryptography
import RegentHTTPClient
import RegentPlatform

/// Caches the service's public keys and decides when to fetch new ones.
///
/// At most one fetch runs at a time. If a fetch fails, the old keys stay in use, so that a short outage of the service
/// does not stop every stream. A token with an unknown key id triggers a fetch, at most once per ``pause``, because an
/// attacker can invent such tokens.
final class KeyCache: Sendable {
  private let source: MediaTokenKeys
  private let client: Client
  private let uptime: @Sendable () -> UInt64
  private let state: Locked<KeyCacheState>

  private struct KeyCacheState: Sendable {
    var keys: JWKSet?
    /// The time at which the cached keys become stale, in nanoseconds on the boot-time clock.
    var old: UInt64 = 0
    /// No fetch starts before this time, in nanoseconds on the boot-time clock.
    var nextFetch: UInt64 = 0
    var running: Task<MediaTokenKeyError?, Never>?
  }

  /// The shortest time from one fetch to the next, after a success as well as after a failure.
  static let pause = Duration.seconds(15)

  init(
    _ source: MediaTokenKeys, wallClock: @escaping @Sendable () -> Int64,
    uptime: @escaping @Sendable () -> UInt64 = { Clocks.bootNanoseconds() }
  ) {
    self.source = source
    self.uptime = uptime
    var configuration = ClientConfiguration(wallClock: wallClock)
    if case .url(_, let authorities, let proxy) = source {
      configuration.authorities = authorities
      configuration.proxy = proxy
    }
    client = Client(configuration)
    var state = KeyCacheState()
    if let found = try? source.fetchAtOnce() {
      state.keys = found.keys
      state.old = uptime() &+ found.age.wholeNanoseconds
    }
    self.state = Locked(state)
  }

  deinit { client.close() }

  var keys: JWKSet? { state.withLock { $0.keys } }

  func prepare() async throws(MediaTokenKeyError) {
    guard keys == nil else { return }
    let task = state.withLock { state in
      state.nextFetch = 0
      return begin(&state, at: uptime())
    }
    if let error = await task?.value { throw error }
  }

  /// The result of looking up a key id.
  enum Found: Sendable {
    /// The cache has no keys at all.
    case noKeys
    /// The cache has keys, but none with this id.
    case unknownKey
    case key(VerifyingKey)
  }

  /// Returns the key with this id.
  ///
  /// Waits for a fetch if the cache is empty or has no key with this id.
  func key(_ keyID: String) async -> Found {
    let now = uptime()
    let (found, task) = state.withLock { state in look(for: keyID, &state, now) }
    // A stale key is still used while newer keys are fetched. A token with an unknown key id waits for the fetch.
    if case .key = found { return found }
    guard let task else { return found }
    _ = await task.value
    return state.withLock { Self.find(keyID, $0) }
  }

  /// Returns the cached key with this id.
  ///
  /// If a fetch is due, it runs in the background.
  func keyNow(_ keyID: String) -> Found {
    let now = uptime()
    return state.withLock { state in look(for: keyID, &state, now).0 }
  }

  private func look(
    for keyID: String, _ state: inout KeyCacheState, _ now: UInt64
  ) -> (Found, Task<MediaTokenKeyError?, Never>?) {
    let found = Self.find(keyID, state)
    if case .key = found, now < state.old { return (found, nil) }
    return (found, begin(&state, at: now))
  }

  private static func find(_ keyID: String, _ state: KeyCacheState) -> Found {
    guard let keys = state.keys else { return .noKeys }
    return keys.key(keyID, .rs256).map { .key($0) } ?? .unknownKey
  }

  /// Returns the running fetch of the keys, or starts one if it is due.
  private func begin(_ state: inout KeyCacheState, at now: UInt64) -> Task<MediaTokenKeyError?, Never>? {
    if let running = state.running { return running }
    // A key set that was given as text never changes.
    if case .text = source, state.keys != nil { return nil }
    guard now >= state.nextFetch else { return nil }
    state.nextFetch = now &+ Self.pause.wholeNanoseconds
    let task = Task { [source, client, weak self] () -> MediaTokenKeyError? in
      do throws(MediaTokenKeyError) {
        let fetched = try await source.fetch(client)
        self?.end(with: fetched)
        return nil
      } catch {
        self?.end(with: nil)
        return error
      }
    }
    state.running = task
    return task
  }

  private func end(with fetched: FetchedKeys?) {
    let now = uptime()
    state.withLock { state in
      state.running = nil
      state.nextFetch = now &+ Self.pause.wholeNanoseconds
      guard let fetched else { return }
      state.keys = fetched.keys
      state.old = now &+ fetched.age.wholeNanoseconds
    }
  }
}
