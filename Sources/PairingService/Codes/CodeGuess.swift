package import Pairing
package import PairingStore
internal import HTTPServer

extension ServiceCore {
  /// The code that a call names in its path, if it is one of its requestor's.
  package func namedCode(_ call: V1Call) -> (code: RegistrationCode, record: RegistrationRecord)? {
    guard let code = call.code(), let record = codes.find(hasher.code(code), of: call.requestor.id)
    else { return nil }
    return (code, record)
  }

  /// The same for whoever may be guessing: a source with too many wrong codes is turned away before the code is looked at,
  /// and a wrong one counts.
  ///
  /// - Throws: 429.
  package func triedCode(_ call: V1Call) throws(CallError)
    -> (code: RegistrationCode, record: RegistrationRecord)?
  {
    try limits.mayTryCode(from: call.request.clientAddress)
    if let found = namedCode(call) { return found }
    limits.wrongCode(from: call.request.clientAddress)
    return nil
  }
}
