package import RegentHTTPCodec
package import RegentJSON

/// A code of somebody else's server that may be shown.
///
/// Whoever runs that server, or took it over, decides what stands there. So nothing is drawn but visible ASCII, and no
/// address that is neither https nor this machine's own: no other scheme that a phone would start a program for,
/// nothing that moves a terminal's cursor or turns the direction of writing.
package struct DeviceOffer: Sendable, Hashable {
  package let answer: DeviceAuthorizationAnswer
  /// Where the code is typed.
  package let address: AbsoluteURL
  /// What the QR code says.
  package let link: String

  /// The longest life of a code that is believed, in seconds: a day.
  package static let longestLife: Int64 = 86_400
  private static let longestUserCode = 32
  private static let longestDeviceCode = 4096

  package init(_ object: JSONObject) throws(ForeignAnswerError) {
    do throws(JSONShapeError) {
      answer = try DeviceAuthorizationAnswer(reading: object)
    } catch {
      throw ForeignAnswerError("its answer is no code: \(error)")
    }
    guard (1...Self.longestDeviceCode).contains(answer.deviceCode.utf8.count),
      answer.deviceCode.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw ForeignAnswerError("its device_code is none") }
    guard (1...Self.longestUserCode).contains(answer.userCode.utf8.count),
      answer.userCode.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), answer.userCode.contains(where: { $0 != " " })
    else { throw ForeignAnswerError("its code cannot be shown: it is no short text of visible letters") }
    guard let address = ForeignAddress.callable(answer.verificationURI, allowsLoopback: true) else {
      throw ForeignAnswerError("it names an address that is not shown: no plain one with https")
    }
    self.address = address
    link = answer.verificationURIComplete ?? answer.verificationURI
    guard ForeignAddress.callable(link, allowsLoopback: true) != nil else {
      throw ForeignAnswerError("it names an address for the QR code that is not shown: no plain one with https")
    }
  }

  /// How long the code lives, in seconds.
  package var lifetime: Int64 { min(answer.lifetime, Self.longestLife) }
}
