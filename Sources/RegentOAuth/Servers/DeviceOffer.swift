package import RegentHTTPCodec
package import RegentJSON

/// A device authorization response of another OAuth server, checked so that the box may show it.
///
/// The operator of that server, or an attacker who took it over, chooses its texts. The user code must therefore be
/// visible ASCII, and the addresses must be https or on this machine. That excludes schemes for which a phone would
/// start a program, terminal control sequences and bidirectional overrides.
package struct DeviceOffer: Sendable, Hashable {
  package let answer: DeviceAuthorizationAnswer
  /// The URL at which the viewer types the code.
  package let address: AbsoluteURL
  /// The URL in the QR code.
  package let link: String

  /// The longest accepted lifetime of a code, in seconds: a day.
  ///
  /// A longer lifetime is shortened to this.
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

  /// The lifetime of the code, in seconds.
  package var lifetime: Int64 { min(answer.lifetime, Self.longestLife) }
}
