import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import TestSupport
import Testing

/// Checks that queries about sign-ins use indexes, because a table may hold a hundred thousand of them.
@Suite struct `Indexes of the authentication table` {
  @Test(arguments: [true, false])
  func `the boxes of an account are found by an index and not by a scan`(isAtOneProvider: Bool) throws {
    var filter = AuthenticationFilter()
    filter.account = try ConformanceFixture.name("ann")
    if isAtOneProvider { filter.provider = try ConformanceFixture.name("cable") }
    let steps = try queryPlan(of: filter.query(after: nil))
    #expect(
      steps.first
        == "SEARCH authentication USING INDEX authentication_viewer (provider=? AND account=? AND id>?)", "\(steps)")
    #expect(!steps.contains { $0.hasPrefix("SCAN authentication") })
  }

  @Test(arguments: [true, false])
  func `pages of sign-ins are read in the order of an index and not sorted`(isOfOneRequestor: Bool) throws {
    var filter = AuthenticationFilter()
    if isOfOneRequestor { filter.requestor = try ConformanceFixture.name("REF30") }
    filter.provider = try ConformanceFixture.name("cable")
    filter.since = Instant(milliseconds: 1)
    filter.before = Instant(milliseconds: 2)
    filter.visitorID = "somebody"
    let steps = try queryPlan(of: filter.query(after: nil))
    #expect(steps.count == 1 && steps.allSatisfy { $0.hasPrefix("SEARCH authentication") }, "\(steps)")
  }
}
