// A box that plays one channel: configure, sign in on a phone, authorize, play. It is built with the tests.

import AccessEnabler

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

  /// What the example needs to be told.
  public init(
    service: String, requestor: String, publicKey: String, secret: String, folder: String
  ) {
    self.service = service
    self.requestor = requestor
    self.publicKey = publicKey
    self.secret = secret
    self.folder = folder
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
    let enabler = try AccessEnabler(
      EnablerConfiguration(
        credentials: .keyPair(publicKey: settings.publicKey, secret: settings.secret),
        services: [settings.service], storage: .folder(settings.folder)))
    try await enabler.configure(requestor: settings.requestor)
    if await enabler.currentSignIn() == nil {
      try await enabler.authenticate(.onSecondScreen) { event in
        switch event {
        case .registrationCode(let offer): show("Open \(offer.url) and type \(offer.display)")
        case .phoneConnected(let number):
          show(number.map { "Pick \($0) on the phone" } ?? "A phone is connected: go on there")
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
