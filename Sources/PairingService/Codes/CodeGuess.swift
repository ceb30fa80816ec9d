package import RegentPairing
package import PairingStore
internal import HTTPServer

/// The data that must be read from the store before a request that names a code can be answered.
enum StoreLookup: Sendable {
  case code(CodeHash)
  case device(DeviceHash, RequestorID, SignInOwner)
}

extension ServiceCore {
  /// The code that a request names in its path, if it belongs to the request's requestor.
  ///
  /// Wrong codes are counted. A request by the device that created the code is not a guess. It is answered whatever
  /// other clients at its address do: a client that knows the device's id could replace the code anyway. All other
  /// clients are refused after too many wrong codes, even with a right code.
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
    // The same wrong code is counted once, so that a box that still polls for an ended code does not lock its address
    // out. The wrong code could become a valid one in the meantime, but that is as unlikely as guessing a code at the
    // first attempt.
    limits.wrongCode(
      from: call.request.clientAddress, as: guesser,
      mark: hasher.mark(of: call.code()?.wire ?? call.path["code"]))
    return nil
  }

  /// What must be read from the store before a request that names a code is answered; nil when memory suffices.
  ///
  /// A client that has guessed too often is refused before the store is read. The device that created the code must not
  /// be refused, even if the code is not in memory yet. When a client has guessed too often, the store is therefore
  /// read by the client's device id.
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
      return .device(device.hash, call.requestor.id, call.owner)
    }
  }

  /// Reads from the store what the lookup names, and puts it into memory.
  func perform(_ lookup: StoreLookup) async throws(StoreError) {
    switch lookup {
    case .code(let hash): try await codeLooks.look(at: hash)
    case .device(let device, let requestor, let owner):
      try await codeLooks.look(at: device, of: requestor, by: owner)
    }
  }

  private func namedCode(_ call: V1Call) -> (code: RegistrationCode, record: RegistrationRecord)? {
    guard let code = call.code(), let record = codes.find(hasher.code(code), of: call.requestor.id)
    else { return nil }
    return (code, record)
  }
}
