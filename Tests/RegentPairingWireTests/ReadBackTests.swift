import RegentPairing
import RegentPairingWire
import Testing

@Suite struct `Documents read by a client` {
  private let later = Instant(milliseconds: 1_601_114_932_000)

  private func readBack<Document: ReadableDocument & Equatable>(_ document: Document) throws {
    #expect(try Document(json: document.bytes(as: .json)) == document)
  }

  @Test func `a client reads back the documents that the service writes`() throws {
    let older = OlderDeviceFields(deviceType: "xbox", registrationURL: "https://x.test")
    let info = RegcodeInfo(
      deviceID: "☃ 1", deviceInformation: #"{"a":1}"#, userAgent: "u", originalUserAgent: "o",
      authorizationType: "OAUTH2",
      application: RegcodeInfo.Application(id: "i", name: "n", version: "1"), older: older)
    try readBack(
      RegcodeDocument(
        id: "1", code: "BCDFGHJK", requestor: "R", provider: "p", generated: later, expires: later,
        info: info, status: .claimed, sequence: 7, match: 42, verificationURL: "a",
        verificationURLComplete: "b"))
    try readBack(
      AuthenticationDocument(requestor: "R", provider: "p", userID: "u", expires: later))
    try readBack(
      AuthorizationDocument(
        provider: "p", resource: "r", requestor: "R", expires: later, proxiedProvider: "q"))
    try readBack(
      MediaTokenDocument(
        resource: "r", requestor: "R", expires: later, serializedToken: "t", userID: "u",
        provider: "p"))
    try readBack(
      ConfigDocument(
        device: "TV", clientType: "c", operatingSystem: "Linux", requestor: "R", name: "N",
        domains: ["d"], exposesDeviceID: true,
        providers: [
          ListedProvider(
            id: "p", displayName: "P", logoURL: "l", isTemporaryPass: true, boarding: .supported,
            platformID: "x", enablesPlatformServices: true, isFeatured: true,
            wantsSecureSheet: true)
        ]))
    try readBack(
      ClientDocument(id: "c", secret: "s", issued: Instant(milliseconds: 5000), redirectURIs: ["u"])
    )
    try readBack(AccessTokenDocument(id: "i", token: "t", created: later, lifetime: 5))
  }

  @Test func `a client reads back lists and errors`() throws {
    let error = ErrorDocument(
      status: 403, details: "d",
      enhancement: .init(code: .authorizationDeniedByProvider, helpURL: "h", trace: "t"))
    try readBack(error)
    try readBack(ErrorDocument(status: 404))
    try readBack(
      PreauthorizationDocument(resources: [
        .init(id: "a", isAuthorized: true), .init(id: "b", isAuthorized: false, error: error),
      ]))
    try readBack(
      UserMetadataDocument(
        updated: 5,
        attributes: [
          .init(name: "zip", value: .text("x"), isEncrypted: true),
          .init(name: "channelID", value: .list(["a"])),
          .init(name: "maxRating", value: .map([.init(name: "MPAA", value: "PG")])),
          .init(name: "remaining_resources", value: .number(3)),
        ]))
  }

  @Test func `a client reads documents of services other than Regent and ignores unknown members`() throws {
    let text =
      #"{"id":"1","code":"IYQD5JQ","requestor":"R","generated":1,"expires":"2","new":[],"info":{"deviceId":"eA==","#
      + #""deviceType":null,"registrationURL":"https://x.test"}}"#
    let record = try RegcodeDocument(json: Array(text.utf8))
    #expect(record.status == .offered && record.sequence == 0 && record.expires.milliseconds == 2)
    #expect(record.verificationURL == "https://x.test")
    let error = try ErrorDocument(
      json: Array(#"{"status":403,"code":"brand_new","message":"m"}"#.utf8))
    #expect(error.message == "m" && error.enhancement == nil)
    #expect(
      try PreauthorizationDocument(json: Array(#"{"resources":null}"#.utf8)).resources.isEmpty)
  }

  @Test(arguments: [
    "", "[]", "null", "{}", "{\"requestor\":\"R\"}",
    #"{"requestor":"R","mvpd":"p","userId":5,"expires":"1"}"#,
    #"{"requestor":"R","mvpd":"p","userId":"u","expires":"soon"}"#,
    #"{"requestor":"R","mvpd":"p","userId":"u","expires":1.5}"#,
    #"{"requestor":"R","requestor":"S","mvpd":"p","userId":"u","expires":"1"}"#,
  ])
  func `a client refuses text that is not the expected document`(text: String) {
    #expect(throws: DocumentError.self) { try AuthenticationDocument(json: Array(text.utf8)) }
  }

  @Test(arguments: [
    Int64.min, .min + 1, -1_000_000_000_000_000, 10_000_000_000_000_000, .max - 1, .max,
  ])
  func `a client refuses times far outside the calendar, as numbers and as texts`(time: Int64) {
    for written in ["\(time)", "\"\(time)\""] {
      #expect(throws: DocumentError.self) { try authentication(written) }
      #expect(throws: DocumentError.self) { try registrationCode(generated: written, expires: "1") }
      #expect(throws: DocumentError.self) { try registrationCode(generated: "1", expires: written) }
      let permit = #"{"mvpd":"p","resource":"r","requestor":"R","expires":\#(written)}"#
      #expect(throws: DocumentError.self) { try AuthorizationDocument(json: Array(permit.utf8)) }
      let media =
        #"{"resource":"r","requestor":"R","expires":\#(written),"serializedToken":"t","userId":"u","mvpdId":"p"}"#
      #expect(throws: DocumentError.self) { try MediaTokenDocument(json: Array(media.utf8)) }
      let access = #"{"access_token":"t","expires_in":1,"created_at":\#(written)}"#
      #expect(throws: DocumentError.self) { try AccessTokenDocument(json: Array(access.utf8)) }
    }
  }

  @Test(arguments: [-999_999_999_999_999, 0, 9_999_999_999_999_999] as [Int64])
  func `a client reads a time that is written as a number or as a text`(time: Int64) throws {
    for written in ["\(time)", "\"\(time)\""] {
      #expect(try authentication(written).expires.milliseconds == time)
      #expect(
        try registrationCode(generated: "1", expires: written).expires.milliseconds == time)
    }
  }

  private func authentication(_ expires: String) throws -> AuthenticationDocument {
    try AuthenticationDocument(
      json: Array(#"{"requestor":"R","mvpd":"p","userId":"u","expires":\#(expires)}"#.utf8))
  }

  private func registrationCode(generated: String, expires: String) throws -> RegcodeDocument {
    let text =
      #"{"id":"1","code":"IYQD5JQ","requestor":"R","generated":\#(generated),"expires":\#(expires),"#
      + #""info":{"deviceId":"eA=="}}"#
    return try RegcodeDocument(json: Array(text.utf8))
  }
}
