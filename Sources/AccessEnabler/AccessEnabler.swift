// AccessEnabler: the device SDK that an app links. Owns the entitlement calls and callbacks, the state machine behind
// them and the token cache. Knows no screen and no terminal: DeviceAgent shows the code, the service decides.
//
// How to find your way: `Calls` is what an app calls, `Callbacks` what it hears, `Values` what both speak of. `Machine`
// decides everything, without a clock or a socket; `EnablerRuntime` does what it wants done, with `Wire` (the services)
// and `Store` (the token cache).

public import RegentPairing
public import RegentPlatform

/// Signs a device in, and asks whether a resource may be watched.
///
/// There are two faces over one machine. Call the methods and listen to an ``EntitlementDelegate``, as the historic API
/// does, or use the `async` calls, which return values and throw ``EntitlementError``, together with ``events``. Mixing
/// them is fine: the delegate and `events` hear everything, whoever asked.
///
/// ```swift
/// let enabler = try AccessEnabler(
///   EnablerConfiguration(
///     credentials: .keyPair(publicKey: key, secret: secret),
///     services: ["https://pair.example"], storage: .folder("/var/lib/player")))
/// try await enabler.configure(requestor: "SPORT")
/// let signIn = try await enabler.authenticate(.onSecondScreen) { progress in
///   if case .registrationCode(let offer) = progress { show(offer.display, offer.url) }
/// }
/// let access = try await enabler.authorize("channel-1")
/// ```
///
/// One enabler per app process is enough; its calls come back at once, nothing blocks the caller.
public final class AccessEnabler: Sendable {
  let runtime: EnablerRuntime

  /// An enabler; it makes no call before `setRequestor`.
  ///
  /// - Parameters:
  ///   - configuration: what it needs to know once.
  ///   - delegate: who hears the callbacks; it is not kept alive by the enabler.
  /// - Throws: `FileError` when the token store's folder cannot be used, with a hint what to type.
  public init(
    _ configuration: EnablerConfiguration, delegate: (any EntitlementDelegate)? = nil
  ) throws(FileError) {
    runtime = try EnablerRuntime(configuration, delegate: delegate)
  }

  deinit { runtime.stop() }

  /// Receives the callbacks, from the next one on; the enabler does not keep it alive.
  public var delegate: (any EntitlementDelegate)? {
    get { runtime.delegate }
    set { runtime.delegate = newValue }
  }

  /// Everything that happens from now on, in order: the delegate's callbacks as values.
  ///
  /// Each use is a sequence of its own. Whoever reads too slowly loses the oldest events beyond 1,024.
  public var events: AsyncStream<EntitlementEvent> { runtime.newEventStream() }

  /// The time by the clock of a service that has answered; by this device's own until one has.
  ///
  /// How long a registration code still lives is the time from here to its ``RegistrationOffer/expires``: the clock of
  /// a box without a battery may be years off.
  public func time(of service: String) -> Instant { runtime.performer.clock.now(for: service) }

  /// This device's id: 256 random bits that were drawn when the token store was made.
  public var deviceID: String { runtime.deviceID }
}
