package import RegentPairing
package import PairingStore
internal import HTTPServer

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
      mark: (call.code()?.wire ?? call.path["code"]).hashValue)
    return nil
  }

  private func namedCode(_ call: V1Call) -> (code: RegistrationCode, record: RegistrationRecord)? {
    guard let code = call.code(), let record = codes.find(hasher.code(code), of: call.requestor.id)
    else { return nil }
    return (code, record)
  }
}
