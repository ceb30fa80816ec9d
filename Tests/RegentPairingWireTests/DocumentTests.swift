import RegentPairing
import RegentPairingWire
import Testing

private let declaration = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#

private func json(_ document: some WireDocument) -> String {
  String(decoding: document.bytes(as: .json), as: UTF8.self)
}

/// The XML without the declaration that every document begins with.
private func xml(_ document: some WireDocument) -> String {
  let text = String(decoding: document.bytes(as: .xml), as: UTF8.self)
  #expect(text.hasPrefix(declaration))
  return String(text.dropFirst(declaration.count))
}

private let later = Instant(milliseconds: 1_601_114_932_000)

@Suite struct `The record of a code` {
  private var current: RegcodeDocument {
    RegcodeDocument(
      id: "678f9fea-a1cafec8-1ff0-4a26-8564-f6cd020acf13", code: "BCDFGHJK", requestor: "REF30",
      generated: Instant(milliseconds: 1_704_963_921_144),
      expires: Instant(milliseconds: 1_704_965_721_144),
      info: RegcodeInfo(deviceID: "box-1", deviceInformation: "{}", userAgent: "box/1"),
      status: .offered, sequence: 1, verificationURL: "https://tv.test",
      verificationURLComplete: "HTTPS://TV.TEST/D/BCDFGHJK")
  }

  @Test func `the record has times as numbers and the device in base64`() {
    #expect(
      json(current)
        == #"{"id":"678f9fea-a1cafec8-1ff0-4a26-8564-f6cd020acf13","code":"BCDFGHJK","requestor":"REF30","#
        + #""generated":1704963921144,"expires":1704965721144,"info":{"deviceId":"Ym94LTE=","deviceInfo":"e30=","#
        + #""userAgent":"box/1"},"state":"offered","sequence":1,"verificationURL":"https://tv.test","#
        + #""verificationURLComplete":"HTTPS://TV.TEST/D/BCDFGHJK"}"#)
  }

  @Test func `the older record has every deprecated parameter, with null for those not sent`() {
    var record = current
    record.provider = "Comcast_SSO"
    record.info = RegcodeInfo(deviceID: "box-1", older: OlderDeviceFields(deviceType: "xbox"))
    #expect(
      json(record).contains(
        #""requestor":"REF30","mvpd":"Comcast_SSO","generated""#))
    #expect(
      json(record).contains(
        #""info":{"deviceId":"Ym94LTE=","deviceType":"xbox","deviceUser":null,"appId":null,"appVersion":null,"registrationURL":null}"#
      ))
    #expect(
      xml(record).contains(
        "<info><deviceId>Ym94LTE=</deviceId><deviceType>xbox</deviceType></info>"))
  }

  @Test func `the record in XML has a prefixed root and unprefixed children`() {
    var record = current
    record.match = 42
    record.status = .opened
    #expect(
      xml(record)
        == #"<ns2:regcode xmlns:ns2="model.mvc.reggie.pass.adobe.com"><id>678f9fea-a1cafec8-1ff0-4a26-8564-f6cd020acf13</id>"#
        + "<code>BCDFGHJK</code><requestor>REF30</requestor><generated>1704963921144</generated>"
        + "<expires>1704965721144</expires><info><deviceId>Ym94LTE=</deviceId><deviceInfo>e30=</deviceInfo>"
        + "<userAgent>box/1</userAgent></info><state>opened</state><sequence>1</sequence>"
        + "<match>42</match>"
        + "<verificationURL>https://tv.test</verificationURL>"
        + "<verificationURLComplete>HTTPS://TV.TEST/D/BCDFGHJK</verificationURLComplete></ns2:regcode>"
    )
  }

  @Test func `the record names the application of a registered client`() {
    var record = current
    record.info.authorizationType = "OAUTH2"
    record.info.application = RegcodeInfo.Application(id: "a", name: "App", version: "1.0")
    #expect(
      json(record).contains(
        #""authorizationType":"OAUTH2","sourceApplicationInformation":{"id":"a","name":"App","version":"1.0"}"#
      ))
  }
}

@Suite struct `Tokens as JSON and XML` {
  @Test func `an authentication has its expiry as a text`() {
    let document = AuthenticationDocument(
      requestor: "REF30", provider: "local", userID: "u1", expires: later)
    #expect(
      json(document)
        == #"{"requestor":"REF30","mvpd":"local","userId":"u1","expires":"1601114932000"}"#)
    #expect(
      xml(document)
        == "<authentication><expires>1601114932000</expires><userId>u1</userId><mvpd>local</mvpd>"
        + "<requestor>REF30</requestor></authentication>")
  }

  @Test func `an authorization repeats the resource as the client named it`() {
    var document = AuthorizationDocument(
      provider: "local", resource: #"<rss a="1">&</rss>"#, requestor: "REF30", expires: later)
    #expect(
      json(document)
        == #"{"mvpd":"local","resource":"<rss a=\"1\">&</rss>","requestor":"REF30","expires":"1601114932000"}"#
    )
    document.proxiedProvider = "small"
    #expect(
      xml(document)
        == "<authorization><expires>1601114932000</expires><mvpd>local</mvpd><requestor>REF30</requestor>"
        + #"<resource>&lt;rss a="1"&gt;&amp;&lt;/rss&gt;</resource><proxyMvpd>small</proxyMvpd></authorization>"#
    )
  }

  @Test func `a media token is a play element in XML`() {
    let document = MediaTokenDocument(
      resource: "ESPN", requestor: "REF30", expires: later, serializedToken: "PHNp",
      userID: "abc", provider: "local")
    #expect(
      json(document)
        == #"{"resource":"ESPN","requestor":"REF30","expires":"1601114932000","serializedToken":"PHNp","userId":"abc","mvpdId":"local"}"#
    )
    #expect(
      xml(document)
        == "<play><expires>1601114932000</expires><mvpdId>local</mvpdId><requestor>REF30</requestor>"
        + "<resource>ESPN</resource><serializedToken>PHNp</serializedToken><userId>abc</userId></play>"
    )
  }
}

@Suite struct `Lists as JSON and XML` {
  @Test func `the provider list has the documented nesting`() {
    let document = ConfigDocument(
      requestor: "REF30", name: "Reference", domains: ["example.com"],
      providers: [
        ListedProvider(
          id: "local", displayName: "Loc & al", boarding: .picker, platformID: "p1"),
        ListedProvider(id: "pass", displayName: "Pass", isTemporaryPass: true),
      ])
    let text = json(document)
    #expect(
      text.hasPrefix(
        #"{"device":"unknown","clientType":"unknown","os":"unknown","requestor":{"id":"REF30","name":"Reference","#
          + #""domains":[{"name":"example.com","mvpdInitiated":false}],"mvpds":[{"id":"local","displayName":"Loc & al","#
      ))
    #expect(text.contains(#""boardingStatus":"PICKER","platformMappingId":"p1""#))
    #expect(
      text.contains(#""id":"pass","displayName":"Pass","authPerAggregator":true,"isTempPass":true"#)
    )
    #expect(!text.contains(#""boardingStatus":"NONE""#))
    let markup = xml(document)
    #expect(markup.hasPrefix("<config><device>unknown</device>"))
    #expect(
      markup.contains(
        "<domains><domain><name>example.com</name><mvpdInitiated>false</mvpdInitiated></domain></domains>"
          + "<mvpds><mvpd><id>local</id><displayName>Loc &amp; al</displayName>"))
    #expect(markup.hasSuffix("</mvpd></mvpds></requestor></config>"))
  }

  @Test func `an empty list is written as an empty array or element, not omitted`() {
    let config = ConfigDocument(requestor: "R", name: "R", domains: [], providers: [])
    #expect(json(config).contains(#""domains":[],"mvpds":[]"#))
    #expect(xml(config).contains("<domains></domains><mvpds></mvpds>"))
    #expect(json(PreauthorizationDocument(resources: [])) == #"{"resources":[]}"#)
    #expect(xml(PreauthorizationDocument(resources: [])) == "<resources></resources>")
  }

  @Test func `preauthorization answers for each resource, with an error where one is given`() {
    let error = ErrorDocument(
      status: 403, message: "Denied",
      enhancement: ErrorDocument.Enhancement(
        code: .preauthorizationDeniedByProvider, helpURL: "https://h", trace: "t1"))
    let document = PreauthorizationDocument(resources: [
      PreauthorizationDocument.Resource(id: "A", isAuthorized: true),
      PreauthorizationDocument.Resource(id: "B", isAuthorized: false, error: error),
    ])
    #expect(
      json(document)
        == #"{"resources":[{"id":"A","authorized":true},{"id":"B","authorized":false,"error":{"action":"none","#
        + #""status":403,"code":"preauthorization_denied_by_mvpd","message":"Denied","helpUrl":"https://h","trace":"t1"}}]}"#
    )
    #expect(
      xml(document)
        == "<resources><resource><id>A</id><authorized>true</authorized></resource><resource><id>B</id>"
        + "<authorized>false</authorized><error><action>none</action><status>403</status>"
        + "<code>preauthorization_denied_by_mvpd</code><message>Denied</message><helpUrl>https://h</helpUrl>"
        + "<trace>t1</trace></error></resource></resources>")
  }

  @Test func `user metadata has lists, maps and encrypted values`() {
    let document = UserMetadataDocument(
      updated: 1_334_243_471,
      attributes: [
        .init(name: "zip", value: .text("bWFkZSB1cA=="), isEncrypted: true),
        .init(
          name: "maxRating",
          value: .map([
            .init(name: "MPAA", value: "PG-13"), .init(name: "urn:fsk 12", value: "12"),
          ])),
        .init(name: "householdID", value: .text("3456")),
        .init(name: "channelID", value: .list(["channel-1", "b"])),
        .init(name: "remaining_resources", value: .number(2)),
      ])
    #expect(
      json(document)
        == #"{"updated":1334243471,"encrypted":["zip"],"data":{"zip":"bWFkZSB1cA==","#
        + #""maxRating":{"MPAA":"PG-13","urn:fsk 12":"12"},"householdID":"3456","channelID":["channel-1","b"],"remaining_resources":2}}"#
    )
    #expect(
      xml(document)
        == "<userMetadata><updated>1334243471</updated><encrypted><key>zip</key></encrypted><data>"
        + "<zip>bWFkZSB1cA==</zip><maxRating><MPAA>PG-13</MPAA><urn_fsk_12>12</urn_fsk_12></maxRating>"
        + "<householdID>3456</householdID><channelID><value>channel-1</value><value>b</value></channelID>"
        + "<remaining_resources>2</remaining_resources></data></userMetadata>")
  }
}

@Suite struct `Errors as JSON and XML` {
  @Test func `the generic error body has its details, or null`() {
    let plain = ErrorDocument(status: 404)
    #expect(json(plain) == #"{"status":404,"message":"Not Found","details":null}"#)
    #expect(xml(plain) == "<error><status>404</status><message>Not Found</message></error>")
    let denied = ErrorDocument(status: 403, details: ErrorDetails.denied)
    #expect(json(denied) == #"{"status":403,"message":"Forbidden","details":"denied"}"#)
    let upsell = ErrorDocument(
      status: 403, message: ErrorMessage.notAuthorized, details: "Not in your package")
    #expect(
      xml(upsell)
        == "<error><status>403</status><message>User not authorized</message><details>Not in your package</details></error>"
    )
    #expect(ErrorMessage.required("deviceId") == "Required 'deviceId' is not present")
  }

  @Test(arguments: [
    (400, "Bad Request"), (401, "Not Authorized"), (410, "Gone"), (418, "Bad Request"),
    (429, "Too Many Requests"), (500, "Internal Server Error"), (502, "Internal Server Error"),
  ])
  func `each status has its own message`(status: Int, message: String) {
    #expect(ErrorDocument(status: status).message == message)
  }

  @Test func `the enhanced error body names the action for the app`() {
    let error = ErrorDocument(
      status: 412, details: "x",
      enhancement: .init(code: .authenticationSessionMissing, helpURL: "u", trace: "t"))
    #expect(
      json(error)
        == #"{"action":"authentication","status":412,"code":"authentication_session_missing","message":"Precondition Failed","details":"x","helpUrl":"u","trace":"t"}"#
    )
  }

  @Test func `every enhanced code has an action and error statuses`() {
    #expect(EnhancedCode.allCases.count == 28)
    for code in EnhancedCode.allCases {
      #expect(!code.statuses.isEmpty && code.statuses.allSatisfy { (400...599).contains($0) })
      if code.rawValue.hasPrefix("authentication_session") {
        #expect(code.action == .authentication)
      }
    }
    #expect(EnhancedCode.tooManyResources.action == .configuration)
    #expect(EnhancedCode.authorizationExpired.statuses == [410])
  }

  @Test func `clients get the registration documents`() {
    let client = ClientDocument(
      id: "c", secret: "s", issued: Instant(milliseconds: 1_723_227_212_345),
      redirectURIs: ["app://x"])
    #expect(
      json(client)
        == #"{"client_id":"c","client_secret":"s","client_id_issued_at":1723227212,"client_secret_expires_at":0,"redirect_uris":["app://x"],"#
        + #""grant_types":["client_credentials"],"scopes":["config:client","decisions:client","platform:sso","profile:client","tokens:client"]}"#
    )
    let token = AccessTokenDocument(
      id: "i", token: "t", created: Instant(milliseconds: 1_752_148_106_221), lifetime: 21_600)
    #expect(
      json(token)
        == #"{"id":"i","access_token":"t","created_at":1752148106221,"expires_in":21600,"token_type":"bearer"}"#
    )
    #expect(json(ClientErrorDocument(.invalidClient)) == #"{"error":"invalid_client"}"#)
  }
}

@Suite struct `Hostile text in XML` {
  private func userID(_ text: String) -> String {
    let markup = xml(
      AuthenticationDocument(requestor: "R", provider: "P", userID: text, expires: later))
    let start = markup.ranges(of: "<userId>")[0].upperBound
    return String(markup[start..<markup.ranges(of: "</userId>")[0].lowerBound])
  }

  @Test(arguments: [
    ("</userId><mvpd>x", "&lt;/userId&gt;&lt;mvpd&gt;x"), ("a&amp;b", "a&amp;amp;b"),
    ("a\r\nb\tc", "a&#13;\nb\tc"), ("a\u{0}b\u{8}c\u{1F}d", "a\u{FFFD}b\u{FFFD}c\u{FFFD}d"),
    ("a\u{FFFE}b\u{FFFF}c", "a\u{FFFD}b\u{FFFD}c"), ("]]>", "]]&gt;"), ("é☃😀\u{7F}", "é☃😀\u{7F}"),
    ("\u{FFBE}\u{EFBE}\u{FFFD}", "\u{FFBE}\u{EFBE}\u{FFFD}"), ("\"'", "\"'"),
  ])
  func `hostile text in XML is escaped or replaced, so that it stays text`(text: String, written: String) {
    #expect(userID(text) == written)
  }
}
