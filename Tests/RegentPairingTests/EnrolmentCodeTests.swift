import RegentPairing
import Testing

@Suite struct `Enrolment codes` {
  @Test(arguments: ["7K3M-Q0ZD-4RXW-81HP", "7k3mq0zd4rxw81hp", " 7k3m – qOzd 4rxw-8Ihp", "7K3M-QOZD-4RXW-8LHP"])
  func `an enrolment code is accepted in any case, with spaces, dashes and the letters O, I and L for digits`(
    text: String
  ) {
    let code = EnrolmentCode(typed: text)
    #expect(code?.display == "7K3M-Q0ZD-4RXW-81HP" && code?.id.text == "7K3M" && code?.secret == "Q0ZD4RXW81HP")
  }

  @Test(arguments: [
    "", "7K3M", "7K3M-Q0ZD-4RXW-81H", "7K3M-Q0ZD-4RXW-81HPP", "7K3M-Q0ZD-4RXW-81HU", "7K3M/Q0ZD-4RXW-81HP",
  ])
  func `other text is not an enrolment code`(text: String) { #expect(EnrolmentCode(typed: text) == nil) }

  @Test func `very long input is rejected`() {
    #expect(EnrolmentCode(typed: String(repeating: "-", count: 1_000_000)) == nil)
  }
}
