internal import PairingStore
internal import RegentCryptography
internal import RegentPairing

extension ServiceCore {
  /// Draws random codes until one is unused, and stores it with the record that `make` returns.
  ///
  /// With 100,000 live codes of 25.6 billion, a drawn code is already in use once in about 256,000 draws.
  func offerDrawn(
    at requestor: RequestorID, _ make: @Sendable (CodeHash) throws(StoreError) -> RegistrationRecord
  ) async throws(StoreError) -> (RegistrationCode, RegistrationRecord) {
    var tries = 8
    while true {
      var generator = SystemRandomNumberGenerator()
      let code = RegistrationCode(drawnFrom: &generator)
      let record = try make(hasher.code(code))
      do throws(StoreError) {
        let limits = LiveCodeLimits(
          options.limits.liveCodes, among: provisioning.now.records.requestors.count)
        return (code, try await codeTransitions.offer(record, within: limits))
      } catch {
        guard error == .codeTaken, tries > 1 else { throw error }
        tries -= 1
      }
    }
  }
}
