import AccessEnabler
import CommandKit
import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentPairing
import RegentPairingWire
import RegentPlatform

/// The box's shared account (the platform account), with the SDK's sign-in and the box's key.
actor EnablerAccount: BoxAccount {
  private let source: EnablerSource
  private let keys: BoxKeyFile
  private var enrolling: Task<Result<BoxKeyFile.Kept, CommandError>, Never>?

  init(_ source: EnablerSource, _ keys: BoxKeyFile) {
    self.source = source
    self.keys = keys
  }

  func kept() async throws(CommandError) -> SignInFacts? {
    // Only a regular sign-in is shared, because others do not identify a viewer: temporary passes, and sign-ins that an
    // operator granted to all viewers while the provider was out of order (a degradation).
    guard let signIn = await source.kept(), signIn.source == .regular else { return nil }
    return SignInFacts(
      provider: signIn.provider.id, providerName: signIn.provider.displayName, user: signIn.userID,
      expires: signIn.expires.milliseconds, source: signIn.source.rawValue)
  }

  func picker() async throws(CommandError) -> [ProviderEntry] { try await source.providers() }

  func signOut() async throws(CommandError) -> SignOutEnd {
    keys.forget()
    return try await source.signOut()
  }

  func tellOfSignOut() async { await source.tellOfSignOut() }

  func lookAgain() async -> Bool { await source.configureAnew() }

  func tell(_ decision: BoxDecision) async throws(CommandError) {
    let box = try await enrolledKey(of: try await neededSignIn())
    let issued = await source.serviceTime()
    do throws(CommandError) {
      try await tell(decision, box, issued)
    } catch {
      // If this device's clock was wrong, the response has corrected it.
      let waited = await source.serviceTime().since(issued)
      guard error.exit != .unreachable, waited > PlatformDecision.lifetime / 2 || waited < .zero else { throw error }
      try await tell(decision, box, await source.serviceTime())
    }
  }

  private func tell(
    _ decision: BoxDecision, _ box: BoxKeyFile.Kept, _ issued: Instant
  ) async throws(CommandError) {
    let (who, permission) = (decision.who, decision.word.text)
    let signed = try BoxAssertion.signed(
      PlatformDecision(
        id: Random.uuid(), box: box.box, app: who.app, requestor: who.requestor, permission: permission,
        age: decision.age, issued: issued
      ).claims, PlatformDecision.type, box)
    _ = try await source.call(
      .decision(
        app: who.app, requestor: who.requestor, permission: permission, age: decision.age, signed: signed))
  }

  func decisions(unless tag: String?, wait: Duration) async throws(CommandError) -> ServiceDecisions? {
    let answer = try await source.call(.decisions(unless: tag, wait: Int(wait.components.seconds)))
    guard let body = answer.body else { return nil }
    guard let list = ServiceDecisions(reading: Array(body.utf8), tag: answer.tag) else {
      throw CommandError(
        "the service's list of app permissions cannot be read",
        hint: "the permissions on this box stay as they are; the service may have another version: regent doctor",
        code: "account")
    }
    return list
  }

  func assertion(
    to profileRequest: [UInt8], provider: String, for who: AppRequestor
  ) async throws(CommandError) -> String {
    let kept = try await enrolledKey(of: try await neededSignIn())
    return try BoxAssertion(
      request: profileRequest, box: kept, provider: provider, who: who,
      now: Instant(milliseconds: Clocks.wallMilliseconds())
    ).signed()
  }

  private func neededSignIn() async throws(CommandError) -> SignInFacts {
    guard let signIn = try await kept() else {
      throw CommandError("this box is not signed in", hint: "sign in: regent sso sign-in", code: "not-signed-in")
    }
    return signIn
  }

  // MARK: The box's key

  /// Creates and registers the key of the current sign-in in advance, so that no app has to wait for the key, and
  /// operators see the box at once.
  ///
  /// Errors are ignored here. The first app that needs the key retries, and gets the error if there is one.
  func prepareKey() async {
    guard let signIn = try? await kept() else { return }
    _ = try? await enrolledKey(of: signIn)
  }

  /// The box's key for this sign-in.
  ///
  /// Creates and registers one if there is none; simultaneous callers share one registration.
  private func enrolledKey(of signIn: SignInFacts) async throws(CommandError) -> BoxKeyFile.Kept {
    let mark = Self.mark(signIn)
    if let kept = try keys.key(of: mark), !kept.box.isEmpty { return kept }
    let task: Task<Result<BoxKeyFile.Kept, CommandError>, Never>
    if let enrolling {
      task = enrolling
    } else {
      let (source, keys) = (source, keys)
      task = Task {
        do throws(CommandError) {
          return .success(try await Self.enrol(mark, source, keys))
        } catch {
          return .failure(error)
        }
      }
      enrolling = task
    }
    let result = await task.value
    enrolling = nil
    return try result.get()
  }

  private static func enrol(
    _ mark: String, _ source: EnablerSource, _ keys: BoxKeyFile
  ) async throws(CommandError) -> BoxKeyFile.Kept {
    // The service accepts one key for each sign-in. So the key is stored before it is registered, and is registered
    // again if the response was lost.
    let kept = try keys.key(of: mark)
    let key = if let kept { kept.key } else { try keys.newKey() }
    if kept == nil { try keys.keep(BoxKeyFile.Kept(key: key, signIn: mark, box: "")) }
    let answer: String?
    do throws(CommandError) {
      answer = try await source.call(.enrol(publicKey: Base64.encode(key.publicKey.spki))).body
    } catch {
      throw CommandError(
        "the service does not accept the key of the box's account: \(error.message)",
        hint: error.hint ?? "sign in again, which makes a new key: regent sso sign-in --force", code: "account",
        exit: error.exit == .unreachable ? .unreachable : .failed)
    }
    let document = try? JSONValue(reading: Array((answer ?? "{}").utf8))
    let enrolled = BoxKeyFile.Kept(key: key, signIn: mark, box: document?["box"]?.string ?? "")
    try keys.keep(enrolled)
    return enrolled
  }

  /// A hash that identifies a sign-in of the box: it changes with the viewer, the provider and the expiry.
  private static func mark(_ signIn: SignInFacts) -> String {
    let text = [signIn.provider, signIn.user, String(signIn.expires)].joined(separator: "\n")
    return Hex.encode(SHA256.hash("regent platform sign-in\n" + text))
  }
}
