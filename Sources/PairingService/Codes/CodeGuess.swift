package import RegentPairing
package import PairingStore
internal import HTTPServer

/// What the store has to be asked before a call can be answered.
enum StoreLookup: Sendable {
  case code(CodeHash)
  case device(DeviceHash, RequestorID)
}

extension ServiceCore {
  /// The code that a call names in its path, if it is one of its requestor's; whoever may be guessing is counted.
  ///
  /// A call for the device that made the code is no guess, and is answered whatever others at its address do: who knows
  /// that device's id could take the code's place anyway. Everybody else is turned away after too many wrong codes,
  /// with the right one too.
  ///
  /// - Throws: 429.
  package func triedCode(_ call: V1Call) throws(CallError)
    -> (code: RegistrationCode, record: RegistrationRecord)?
  {
    let found = namedCode(call)
    if let found, call.isOwner(of: found.record) { return found }
    let guesser = RequestLimits.Guesser.app(call.requestor.id)
    try limits.mayTryCode(from: call.request.clientAddress, as: guesser)
    if let found { return found }
    // The same wrong code again is counted once: a forgotten box that polls for its dead code must not lock its address
    // out. That this very code is given out again meanwhile is as unlikely as that one guess hits.
    limits.wrongCode(
      from: call.request.clientAddress, as: guesser,
      mark: hasher.mark(of: call.code()?.wire ?? call.path["code"]))
    return nil
  }

  /// What the store has to be asked before a call that names a code is answered; nil when memory knows enough.
  ///
  /// Whoever has guessed too often is turned away before anybody looks for him. The device that made the code, which is
  /// not, is looked for by its own id then: memory cannot know yet that it is the one.
  ///
  /// - Throws: 429.
  func lookupNeeded(for call: V1Call) throws(CallError) -> StoreLookup? {
    guard call.path[ifCaptured: "code"] != nil, let code = call.code() else { return nil }
    let hash = hasher.code(code)
    guard codeLooks.mustLook(at: codes.find(hash)) else { return nil }
    do throws(CallError) {
      try limits.mayTryCode(from: call.request.clientAddress, as: .app(call.requestor.id))
      return .code(hash)
    } catch {
      guard let device = call.deviceIfNamed else { throw error }
      return .device(device.hash, call.requestor.id)
    }
  }

  /// Asks the store, and makes memory know the answer.
  func perform(_ lookup: StoreLookup) async throws(StoreError) {
    switch lookup {
    case .code(let hash): try await codeLooks.look(at: hash)
    case .device(let device, let requestor): try await codeLooks.look(at: device, of: requestor)
    }
  }

  private func namedCode(_ call: V1Call) -> (code: RegistrationCode, record: RegistrationRecord)? {
    guard let code = call.code(), let record = codes.find(hasher.code(code), of: call.requestor.id)
    else { return nil }
    return (code, record)
  }
}
