package import RegentJSON

extension TokenAnswer {
  /// The longest access token that is taken, in bytes: it goes into a header.
  private static let longest = 16_384

  /// Tokens of somebody else's server.
  ///
  /// A token becomes a line for curl and for git: with a line end in it a server could add lines of its own. Its kind
  /// is one of the two that a box can show, in the spelling of the standard.
  package init(foreign object: JSONObject) throws(ForeignAnswerError) {
    do throws(JSONShapeError) {
      try self.init(reading: object)
    } catch {
      throw ForeignAnswerError("its answer has no token: \(error)")
    }
    guard (1...Self.longest).contains(accessToken.utf8.count),
      accessToken.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw ForeignAnswerError("its token cannot stand in a header") }
    switch kind.lowercased() {
    case "bearer": kind = "Bearer"
    case "dpop": kind = "DPoP"
    default: throw ForeignAnswerError("its token type is not supported")
    }
  }
}
