package import RegentJSON

extension TokenAnswer {
  /// The longest access token of another server that is accepted, in bytes.
  ///
  /// It must fit into a header.
  private static let longest = 16_384

  /// Reads the token response of another OAuth server.
  ///
  /// The token is printed in lines for curl and git. A line end in it would let the server add lines of its own, so
  /// only visible ASCII is accepted. The type must be Bearer or DPoP, and is stored in the standard's spelling.
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
