import Pairing
import Testing

@testable import PairingService

@Suite("Numbers of the day")
struct DayNumbersTests {
  @Test func `yesterday is not today, which begins at midnight in UTC`() throws {
    let day: Int64 = 86_400_000
    let noon = Instant(milliseconds: 20_000 * day + day / 2)
    let provider = try #require(ProviderID("cable"))
    var numbers = DayNumbers(from: noon)
    numbers.count(.codesStarted, 3, at: noon)
    numbers.approved(after: .seconds(9), at: provider)
    // Since the start, as long as it was today.
    numbers.turn(to: noon + .milliseconds(day / 2 - 1))
    #expect(numbers.since == noon && numbers[.codesStarted] == 3)
    #expect(numbers.medianTimeToApprove == .seconds(9))

    let midnight = noon + .milliseconds(day / 2)
    numbers.count(.codesStarted, 1, at: midnight)
    #expect(numbers.since == midnight && numbers[.codesStarted] == 1)
    #expect(numbers.approvals.isEmpty && numbers.medianTimeToApprove == nil)
    #expect(numbers.hours.map(\.started) == [1])
  }
}
