import RegentCryptography
import RegentHTTPClient
import RegentPlatform

/// The keys at hand, and when to ask for new ones.
///
/// One fetch at a time, whoever asks for it. Keys that could not be renewed stay in use: a service that is down for a
/// moment must not stop every stream. A token with an unknown key id makes the keys be fetched again, but only so
/// often: anybody can make up such tokens.
final class KeyCache: Sendable {
  private let source: MediaTokenKeys
  private let client: Client
  private let uptime: @Sendable () -> UInt64
  private let state: Locked<State>

  private struct State: Sendable {
    var keys: JWKSet?
    /// When the keys get old, on the boot-time clock in nanoseconds.
    var old: UInt64 = 0
    /// Before this nothing is fetched, whatever the reason.
    var nextFetch: UInt64 = 0
    var running: Task<MediaTokenKeyError?, Never>?
  }

  /// The pause between two fetches because of unknown key ids or failures.
  static let pause = Duration.seconds(15)

  init(
    _ source: MediaTokenKeys, wallClock: @escaping @Sendable () -> Int64,
    uptime: @escaping @Sendable () -> UInt64 = { Clocks.bootNanoseconds() }
  ) {
    self.source = source
    self.uptime = uptime
    var configuration = ClientConfiguration(wallClock: wallClock)
    if case .url(_, let authorities) = source { configuration.authorities = authorities }
    client = Client(configuration)
    var state = State()
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

  /// What is known of a key id.
  enum Found: Sendable {
    /// There are no keys at all.
    case noKeys
    /// No key has this id.
    case unknownKey
    case key(VerifyingKey)
  }

  /// The key of this id; keys are fetched first when there are none, or when it is not among them.
  func key(_ keyID: String) async -> Found {
    let now = uptime()
    let (found, task) = state.withLock { state in look(for: keyID, &state, now) }
    // Old keys do while new ones are on their way; an unknown id has to wait for them.
    if case .key = found { return found }
    guard let task else { return found }
    _ = await task.value
    return state.withLock { Self.find(keyID, $0) }
  }

  /// The key of this id among those at hand; newer ones are fetched without waiting.
  func keyNow(_ keyID: String) -> Found {
    let now = uptime()
    return state.withLock { state in look(for: keyID, &state, now).0 }
  }

  private func look(
    for keyID: String, _ state: inout State, _ now: UInt64
  ) -> (Found, Task<MediaTokenKeyError?, Never>?) {
    let found = Self.find(keyID, state)
    if case .key = found, now < state.old { return (found, nil) }
    return (found, begin(&state, at: now))
  }

  private static func find(_ keyID: String, _ state: State) -> Found {
    guard let keys = state.keys else { return .noKeys }
    return keys.key(keyID, .rs256).map { .key($0) } ?? .unknownKey
  }

  /// The fetch under way, or a new one if one is due.
  private func begin(_ state: inout State, at now: UInt64) -> Task<MediaTokenKeyError?, Never>? {
    if let running = state.running { return running }
    // A text has nothing more to say than at the beginning.
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
