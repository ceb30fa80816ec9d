internal import PairingStore
internal import RegentCryptography
internal import RegentPairing

extension ServiceCore {
  /// Draws codes until one is free, and offers it.
  ///
  /// With a hundred thousand live codes of 25.6 billion the first one is taken once in a quarter of a million times.
  /// `make` gives the record of a code that was drawn.
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
        try await codeTransitions.offer(record, within: limits)
        return (code, record)
      } catch {
        guard error == .codeTaken, tries > 1 else { throw error }
        tries -= 1
      }
    }
  }
}
