internal import Administration
internal import Cryptography
internal import JSON
internal import PairingStore

extension ServiceCore {
  /// The signed text with which installations of an application register themselves.
  func softwareStatement(for application: ApplicationRecord) async throws(AdminError) -> String {
    throw AdminError(.unavailable, "this service issues no software statements")
  }
}
