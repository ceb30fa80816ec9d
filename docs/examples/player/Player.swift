// A box that plays one channel: configure, sign in on a phone, authorize, play. It is built with the tests.

public import AccessEnabler

/// What the example needs to be told.
public struct PlayerSettings: Sendable {
  /// The service's address.
  public var service: String
  /// The programmer's id.
  public var requestor: String
  /// The public half of the key pair.
  public var publicKey: String
  /// Its secret half.
  public var secret: String
  /// The folder of the token cache.
  public var folder: String
  /// Where the box's daemon listens, which may hold a TV provider account for all apps.
  public var account: PlatformAccountPlace

  /// What the example needs to be told.
  public init(
    service: String, requestor: String, publicKey: String, secret: String, folder: String,
    account: PlatformAccountPlace = .usual
  ) {
    self.service = service
    self.requestor = requestor
    self.publicKey = publicKey
    self.secret = secret
    self.folder = folder
    self.account = account
  }

  func enabler() throws -> AccessEnabler {
    var configuration = EnablerConfiguration(
      credentials: .keyPair(publicKey: publicKey, secret: secret), services: [service], storage: .folder(folder))
    configuration.platformAccount = account
    return try AccessEnabler(configuration)
  }
}

/// Signs in if need be and gets a media token for a channel.
///
/// - Parameters:
///   - channel: what to play.
///   - settings: where and as whom.
///   - show: draws one line on the screen.
/// - Returns: the token for the stream server, or nothing after a sentence on the screen.
public func play(
  _ channel: String, _ settings: PlayerSettings, show: @escaping @Sendable (String) -> Void
) async -> String? {
  do {
    let enabler = try settings.enabler()
    // Where the viewer lets this app use the box's account, this signs it in without a word.
    try await enabler.configure(requestor: settings.requestor)
    if await enabler.currentSignIn() == nil { try await comeInByBox(enabler, settings, show) }
    if await enabler.currentSignIn() == nil {
      try await enabler.authenticate(.onSecondScreen) { event in
        switch event {
        case .registrationCode(let offer): show("Open \(offer.url) and type \(offer.display)")
        case .phoneConnected(let number):
          show(number.map { "Pick \($0) on the phone" } ?? "A phone is connected: go on there")
        // The box is not signed in. This example signs in only itself; another app could show the dialog's providers.
        case .presentTvProviderDialog: enabler.answerTvProviderDialog(.other)
        default: break
        }
      }
    }
    let access = try await enabler.authorize(channel)
    show("Playing \(channel)")
    return access.serialized
  } catch let error as EntitlementError {
    switch error.area {
    case .authentication: show("Please sign in again: \(error)")
    case .authorization: show(error.message.isEmpty ? "Not in your package" : error.message)
    case .other: show("Try again later: \(error)")
    }
  } catch {
    show("\(error)")
  }
  return nil
}

/// Asks the viewer once, after they pressed play, whether this app may use the box's account, and comes in by it.
private func comeInByBox(
  _ enabler: AccessEnabler, _ settings: PlayerSettings, _ show: (String) -> Void
) async throws {
  guard let account = PlatformAccount(requestor: settings.requestor, at: settings.account),
    let status = try await account.status(), status.isSignedIn, status.permission == .undetermined
  else { return }
  show("May this app use the TV provider account of this box? Answer on the box, or on your phone at My screens")
  guard try await account.access(prompt: true) == .granted else { return }
  try await enabler.configure(requestor: settings.requestor)
}

/// Signs out; an app that was in by the box's account asks the viewer to sign the box out, too, because its next start
/// would sign it in again (VSA203).
public func signOut(_ settings: PlayerSettings, show: @Sendable (String) -> Void) async throws {
  let enabler = try settings.enabler()
  try await enabler.configure(requestor: settings.requestor)
  let source = await enabler.currentSignIn()?.source
  try await enabler.signOut()
  guard source == .platform,
    let account = PlatformAccount(requestor: settings.requestor, at: settings.account)
  else { return show("Signed out") }
  show("Signed out of this app. Sign the box out, too? Answer on the box")
  show(try await account.askToSignOut() ? "Signed out" : "The box stays signed in, and so does this app")
}
