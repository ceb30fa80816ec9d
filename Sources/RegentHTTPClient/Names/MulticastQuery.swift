package import RegentPlatform

/// A multicast DNS query (RFC 6762), whose responses come to this process, so that no resolver such as Avahi is needed.
///
/// The query is sent three times, because datagrams get lost, especially on wireless networks.
package enum MulticastQuery {
  /// When the query is sent, and when the wait ends, in milliseconds from its start.
  private static let pauses: [UInt64] = [0, 250, 600, 1_200]
  /// The maximum number of datagrams that are read, so that a machine that floods the box can only end the query early.
  private static let mostDatagrams = 256

  /// The IPv4 multicast address and port of multicast DNS.
  package static let everybody = (group: UInt32(0xE000_00FB), port: UInt16(5353))

  /// Asks for at most 1.2 seconds.
  ///
  /// Returns at once if there is no network.
  ///
  /// - Parameters:
  ///   - place: the group, or one machine in a test.
  ///   - questions: the datagrams to send next.
  ///   - take: reads a received datagram, and returns true to end the query.
  /// - Throws: `SystemError` when no socket can be opened.
  package static func perform(
    at place: (group: UInt32, port: UInt16) = everybody, questions: () -> [[UInt8]], take: ([UInt8]) -> Bool
  ) throws(SystemError) {
    let neighbours = try MulticastSocket(group: place.group, port: place.port)
    let begin = Clocks.bootNanoseconds()
    var heard = 0
    for end in pauses.dropFirst() {
      var isAsked = false
      for question in questions() { isAsked = neighbours.ask(question) || isAsked }
      guard isAsked else { return }
      while heard < mostDatagrams {
        let passed = (Clocks.bootNanoseconds() - begin) / 1_000_000
        guard passed < end, let datagram = neighbours.hear(milliseconds: CInt(end - passed)) else { break }
        heard += 1
        if take(datagram) { return }
      }
    }
  }
}
