// AccessEnabler: the device SDK that an app links: the entitlement calls and callbacks, the state machine behind
// them, and the token cache. It draws no screen and opens no terminal: DeviceAgent or the app shows the code, and the
// service decides.
//
// Where to find things: `Calls` has the functions that an app calls, `Callbacks` what the app receives, `Values` the
// types of both. `EnablerStateMachine` makes all decisions without a clock or a socket. `EnablerRuntime` carries out
// its actions with `Wire` (requests to the services) and `Store` (the token cache).

public import RegentPairing
public import RegentPlatform

/// Signs a device in, and authorizes the resources that it plays.
///
/// There are two ways to use it, which can be mixed. Call the methods and implement ``EntitlementDelegate``, as in
/// the original API. Or call the `async` functions, which return values and throw ``EntitlementError``, and read
/// ``events``. The delegate and `events` receive the results of all calls of both kinds.
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
/// One enabler per app process is enough. Its functions return at once and never block the caller.
public final class AccessEnabler: Sendable {
  let runtime: EnablerRuntime

  /// Creates an enabler.
  ///
  /// It sends no request before `setRequestor`.
  ///
  /// - Parameters:
  ///   - configuration: credentials, services, storage and other settings that do not change later.
  ///   - delegate: receives the callbacks; the enabler holds a weak reference.
  /// - Throws: `FileError` if the folder of the token store cannot be used, with a hint what to do.
  public init(
    _ configuration: EnablerConfiguration, delegate: (any EntitlementDelegate)? = nil
  ) throws(FileError) {
    runtime = try EnablerRuntime(configuration, delegate: delegate)
  }

  deinit { runtime.stop() }

  /// The object that receives the callbacks.
  ///
  /// The enabler holds a weak reference.
  public var delegate: (any EntitlementDelegate)? {
    get { runtime.delegate }
    set { runtime.delegate = newValue }
  }

  /// All events from now on, in order: the delegate's callbacks as values.
  ///
  /// Each access returns a stream of its own. A stream keeps at most 1,024 unread events and then drops the oldest.
  public var events: AsyncStream<EntitlementEvent> { runtime.newEventStream() }

  /// The current time by the clock of a service.
  ///
  /// Until the service has answered, this device's own clock is used.
  ///
  /// To show how long a registration code stays valid, subtract this time from ``RegistrationOffer/expires``. The
  /// clock of a box without a battery may be years off.
  public func time(of service: String) -> Instant { runtime.performer.clock.now(for: service) }

  /// This device's id: 256 random bits, drawn when the token store was created.
  public var deviceID: String { runtime.deviceID }
}
