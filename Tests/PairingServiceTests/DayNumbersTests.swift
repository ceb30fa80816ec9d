import RegentPairing
import Testing

@testable import PairingService

@Suite("Statistics of the day")
struct DayNumbersTests {
  @Test func `the statistics start again at midnight UTC`() throws {
    let day: Int64 = 86_400_000
    let noon = Instant(milliseconds: 20_000 * day + day / 2)
    let provider = try #require(ProviderID("cable"))
    var numbers = DayNumbers(from: noon)
    numbers.count(.codesStarted, 3, at: noon)
    numbers.approved(after: .seconds(9), at: provider)
    // The statistics begin with the start of the service, until midnight.
    numbers.turn(to: noon + .milliseconds(day / 2 - 1))
    #expect(numbers.since == noon && numbers[.codesStarted] == 3)
    #expect(numbers.medianTimeToApprove == .seconds(9))

    let midnight = noon + .milliseconds(day / 2)
    numbers.count(.codesStarted, 1, at: midnight)
    #expect(numbers.since == midnight && numbers[.codesStarted] == 1)
    #expect(numbers.approvals.isEmpty && numbers.medianTimeToApprove == nil)
    #expect(numbers.hours.map(\.started) == [1])
  }

  @Test func `the statistics continue after a restart on the same day`() throws {
    let day: Int64 = 86_400_000
    let morning = Instant(milliseconds: 20_000 * day + 9 * 3_600_000 + 1)
    let provider = try #require(ProviderID("cable"))
    var numbers = DayNumbers(from: morning)
    numbers.count(.codesStarted, 3, at: morning)
    numbers.approved(after: .seconds(9), at: provider)
    numbers.count(.codesApproved, 1, at: morning + .seconds(2 * 3600))
    let evening = morning + .seconds(10 * 3600)
    #expect(DayNumbers(keptAs: numbers.text(at: evening), at: evening) == numbers)
    let midnight = Instant(milliseconds: 20_001 * day)
    #expect(DayNumbers(keptAs: numbers.text(at: evening), at: midnight) == nil)
    var restarted = try #require(DayNumbers(keptAs: numbers.text(at: evening), at: evening))
    restarted.count(.codesStarted, 1, at: evening)
    #expect(restarted[.codesStarted] == 4 && restarted.since == morning)
    #expect(restarted.hours.map(\.started) == [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    #expect(restarted.hours.map(\.approved) == [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(restarted.medianTimeToApprove == .seconds(9))
  }

  @Test func `stored statistics that are implausible are not used`() throws {
    let noon = Instant(milliseconds: 20_000 * 86_400_000 + 43_200_000)
    var numbers = DayNumbers(from: noon)
    numbers.count(.codesStarted, 3, at: noon)
    numbers.approved(after: .seconds(9), at: try #require(ProviderID("cable")))
    let good = numbers.text(at: noon)
    #expect(DayNumbers(keptAs: good, at: noon) != nil)
    for (part, other) in [
      ("\"started\":[3]", "\"started\":[]"), ("\"started\":[3]", "\"started\":[3,4]"),
      ("\"started\":[3]", "\"started\":[-3]"),
      ("\"started\":[3]", "\"started\":[9223372036854775807]"),
      ("\"times\":[9000]", "\"times\":[0]"), ("\"times\":[9000]", "\"times\":9000"),
      ("\"cable\":1", "\"\":1"), ("\"cable\":1", "\"cable\":\"1\""), ("\"since\"", "\"until\""),
      ("\"codes_started\":3", "\"codes_started\":1.5"), ("{", "["),
    ] {
      let bad = good.replacing(part, with: other)
      #expect(bad != good, "\(part) is not in \(good)")
      #expect(DayNumbers(keptAs: bad, at: noon) == nil, "\(bad)")
    }
    // Stored by another version of the service.
    let newer = good.replacing("codes_started", with: "codes_of_tomorrow")
    #expect(DayNumbers(keptAs: newer, at: noon)?[.codesStarted] == 0)
  }
}
