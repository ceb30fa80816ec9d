internal import Administration
internal import PairingStore

extension ServiceCore {
  /// Signs the software statement with which installations of the application register themselves.
  func softwareStatement(for application: ApplicationRecord) async throws(AdminError) -> String {
    do {
      return try statements.issue(for: application, at: clock.now)
    } catch {
      log.error("statement-not-signed", ("reason", "\(error)"))
      throw AdminError(
        .failed, "the statement could not be signed", hint: "see the service's log")
    }
  }
}
