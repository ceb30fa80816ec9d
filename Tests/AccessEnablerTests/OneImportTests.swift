import AccessEnabler
import Testing

/// An app that imports only AccessEnabler can name every type of every call.
///
/// The test is that this file compiles.
@Suite("One import")
struct OneImportTests {
  @Test func `every type that an app needs can be named with one import`() throws {
    var configuration = EnablerConfiguration(
      credentials: .softwareStatement(Secret("statement")), storage: .memory)
    configuration.authorities = CertificateAuthorities.system
    configuration.device = DeviceInformation()
    configuration.device[.model] = "Box 9"
    let key: RSADecryptionKey? = nil
    configuration.metadataKey = key
    let later: Instant = Instant(milliseconds: 1_001)
    #expect(later.milliseconds == 1_001)
    #expect(later + .seconds(1) == Instant(milliseconds: 2_001) && later - .seconds(1) == Instant(milliseconds: 1))
    #expect(later < later + .seconds(1) && (later + .seconds(1)).since(later) == .seconds(1))
    #expect(Instant(milliseconds: .max) + .seconds(1) == Instant(milliseconds: .max))
    let boarding: BoardingStatus? = MVPD(id: "A", displayName: "A").boardingStatus
    #expect(boarding == nil)
    do throws(FileError) {
      _ = try AccessEnabler(configuration)
    } catch {
      Issue.record("\(error.description)")
    }
  }
}
