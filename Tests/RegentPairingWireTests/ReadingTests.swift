import RegentEncodings
import RegentPairing
@testable import RegentPairingWire
import Testing

@Suite struct `The format of a response` {
  @Test func `the format follows the suffix, then the parameter, then Accept, and is XML otherwise`() {
    func choose(_ suffix: WireFormat?, _ parameter: String?, _ json: Int, _ xml: Int) -> WireFormat {
      WireFormat(suffix: suffix, parameter: parameter, jsonWeight: json, xmlWeight: xml)
    }
    #expect(choose(nil, nil, 1000, 1000) == .xml)
    #expect(choose(nil, nil, 1000, 0) == .json)
    #expect(choose(nil, nil, 500, 900) == .xml)
    #expect(choose(nil, nil, 0, 0) == .xml)
    #expect(choose(nil, "json", 1000, 1000) == .json)
    #expect(choose(nil, "JSON", 0, 1000) == .json)
    #expect(choose(nil, "yaml", 1000, 0) == .json)
    #expect(choose(nil, "", 1000, 1000) == .xml)
    #expect(choose(.xml, "json", 1000, 0) == .xml)
    #expect(choose(.json, "xml", 0, 1000) == .json)
  }

  @Test func `a format suffix is split off the last path segment`() {
    #expect(WireFormat.split(path: "/regcode.json") == ("/regcode", .json))
    #expect(WireFormat.split(path: "/regcode/BCDFGHJK.xml") == ("/regcode/BCDFGHJK", .xml))
    #expect(WireFormat.split(path: "/a.json/b") == ("/a.json/b", nil))
    #expect(WireFormat.split(path: "/regcode.yaml").format == nil)
  }
}

@Suite struct `Signed headers` {
  private static let first =
    "POST requestor_id=REF30, nonce=6f1c9c3e-0d2b-4a53-9c5e-1f2a3b4c5d6e, signature_method=HMAC-SHA1, "
    + "request_time=1700000000000, request_uri=/regcode"
  private static let key = ", public_key=examplePublicKey0000000000000000"
  private static let whole = first + key + ", signature=cIQcUBa4DJSVCMD0cHgs9n2YYu8="

  @Test func `a signed header is read into its fields`() throws {
    let call = try SignedHeader.read(Self.whole)
    #expect(call.method == "POST")
    #expect(call.requestor.text == "REF30")
    #expect(call.nonce == "6f1c9c3e-0d2b-4a53-9c5e-1f2a3b4c5d6e")
    #expect(call.signatureMethod == .hmacSHA1)
    #expect(call.requestTime == Instant(milliseconds: 1_700_000_000_000))
    #expect(call.requestURI == "/regcode")
    #expect(call.publicKey.text == "examplePublicKey0000000000000000")
    #expect(call.signedText == Array(Self.first.utf8))
    #expect(call.signature.count == 20)
    #expect(Base64.encode(call.signature) == "cIQcUBa4DJSVCMD0cHgs9n2YYu8=")
  }

  @Test func `a signed header is written as it is read`() throws {
    let call = try SignedHeader.read(Self.whole)
    let text = SignedHeader.textToSign(
      method: call.method, requestor: call.requestor, nonce: call.nonce,
      signatureMethod: call.signatureMethod, requestTime: call.requestTime,
      requestURI: call.requestURI)
    #expect(text == Self.first)
    #expect(
      SignedHeader.header(
        textToSign: text, publicKey: call.publicKey, signature: call.signature) == Self.whole)
  }

  @Test func `a signed header may have its fields in another order and additional fields`() throws {
    let header =
      "GET request_uri=/a?b=c=d,nonce=n, request_time=5, version=1.0, signature_method=HMAC-SHA256, requestor_id=R"
      + ", public_key=K, signature=AAAA"
    let call = try SignedHeader.read(header)
    #expect(call.requestURI == "/a?b=c=d" && call.nonce == "n")
    #expect(call.signatureMethod == .hmacSHA256)
    #expect(String(decoding: call.signedText, as: UTF8.self).hasSuffix("requestor_id=R"))
  }

  @Test(arguments: [
    "", "Bearer abc", "Basic dXNlcjpwYXNz", first, first + key, first + key + ", signature=",
    whole + " ", whole + "=", whole + ", x=y", whole.replacing("POST ", with: ""),
    whole.replacing("POST", with: "post"), whole.replacing("requestor_id=REF30, ", with: ""),
    whole.replacing("REF30", with: ""), whole.replacing("REF30", with: "RE/F30"),
    whole.replacing("nonce=6f1c9c3e-0d2b-4a53-9c5e-1f2a3b4c5d6e, ", with: ""),
    whole.replacing("HMAC-SHA1", with: "none"), whole.replacing("HMAC-SHA1", with: "hmac-sha1"),
    whole.replacing("signature_method=HMAC-SHA1, ", with: ""),
    whole.replacing("1700000000000", with: "-1"), whole.replacing("1700000000000", with: "+17"),
    whole.replacing("1700000000000", with: "1.7e12"),
    whole.replacing("1700000000000", with: "9999999999999999"),
    whole.replacing(", request_uri=/regcode", with: ""),
    whole.replacing("nonce=", with: "nonce=x, nonce="),
    whole.replacing("request_uri=", with: "requestor_id=REF30, request_uri="),
    whole.replacing("/regcode", with: "/regcode, public_key=K, signature=AAAA"),
    whole.replacing("/regcode", with: "/reg\tcode"), whole.replacing("/regcode", with: "/régcode"),
    whole.replacing("cIQc", with: "cIQ*"), whole.replacing("Yu8=", with: "Yu8"),
    whole.replacing("Yu8=", with: "Yu9="), whole.replacing(", nonce", with: ", =x, nonce"),
    whole.replacing(", nonce", with: ", , nonce"),
    whole.replacing(", nonce", with: ", junk, nonce"),
    whole.replacing("6f1c9c3e", with: String(repeating: "x", count: 128)),
    whole.replacing("/regcode", with: "/" + String(repeating: "x", count: 4096)),
    String(repeating: ", public_key=", count: 300), String(repeating: "A", count: 4096),
  ])
  func `a signed header of any other form is refused`(header: String) {
    #expect(throws: SignedHeaderError.self) { try SignedHeader.read(header) }
  }

  @Test func `a signed header is recognized among other kinds of authorization`() {
    #expect(SignedHeader.isMeant(by: Self.whole))
    #expect(!SignedHeader.isMeant(by: "Bearer a.b=c"))
    #expect(!SignedHeader.isMeant(by: "bearer x"))
    #expect(!SignedHeader.isMeant(by: "Negotiate"))
  }
}

@Suite struct `Device information` {
  private func encoded(_ json: String) -> String { Base64.encode(Array(json.utf8)) }

  @Test func `device information is read from base64 JSON, with numbers and booleans`() throws {
    let text =
      #"{"primaryHardwareType":"SetTopBox","model":"Box 3","manufacturer":"Acme","osName":"Linux","osVersion":"6.1","#
      + #""version":"2.10.3","displayWidth":1920,"connectionSecure":true,"connectionPort":443,"junk":[1],"vendor":null}"#
    let info = try #require(DeviceInformation(reading: encoded(text)))
    #expect(info[.model] == "Box 3" && info[.displayWidth] == "1920")
    #expect(info[.connectionSecure] == "true" && info[.vendor] == nil)
    #expect(info.displayName == "Acme Box 3")
    #expect(
      info.normalizedJSON
        == #"{"type":"SetTopBox","model":"Box 3","version":{"major":2,"minor":10,"patch":3},"#
        + #""hardware":{"name":"Box 3","version":"2.10.3","manufacturer":"Acme"},"operatingSystem":{"name":"Linux","version":"6.1"},"#
        + #""display":{"width":"1920"},"connection":{"port":"443","secure":"true"}}"#)
  }

  @Test func `device information is read when it was URL-encoded again or uses the URL alphabet`() throws {
    let text = #"{"model":"??>>"}"#
    let plain = encoded(text)
    let escaped = plain.replacing("=", with: "%3D").replacing("+", with: "%2B").replacing(
      "/", with: "%2f")
    let url = plain.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    for form in [plain, escaped, url] {
      #expect(DeviceInformation(reading: form)?[.model] == "??>>", "\(form)")
    }
  }

  @Test(arguments: [
    "", "!", "AAAA", "%", "%4", "W10=", "MTI=", "eyJtb2RlbCI6ICJ4",
    String(repeating: "A", count: 8193),
  ])
  func `unreadable device information is ignored without an error`(text: String) {
    #expect(DeviceInformation(reading: text) == nil)
  }

  @Test func `device information loses control and formatting characters and is cut at 256 bytes`() throws {
    let text = "{\"model\":\"Ki\u{202E}tchen \\u001b[2J\\n\\u200bTV  1\",\"vendor\":\"\\u0007\"}"
    let info = try #require(DeviceInformation(reading: encoded(text)))
    #expect(info[.model] == "Kitchen [2J TV 1")
    #expect(info[.vendor] == nil)
    let long = #"{"model":""# + String(repeating: "é", count: 500) + #""}"#
    #expect(DeviceInformation(reading: encoded(long))?[.model]?.utf8.count == 256)
  }

  @Test(arguments: [
    ("AppleTV6,2/11.1", "SetTopBox", "tvOS"),
    ("Roku/DVP-9.10 (519.10E04111A)", "SetTopBox", "Roku OS"),
    ("Mozilla/5.0 (Linux; Android 9; AFTMM) AppleWebKit", "SetTopBox", "Android"),
    ("Mozilla/5.0 (SMART-TV; Linux; Tizen 5.0)", "TV", "Tizen"),
    ("Mozilla/5.0 (Web0S; Linux/SmartTV)", "TV", "webOS"),
    ("Mozilla/5.0 (PlayStation 4 8.03)", "GamesConsole", "PlayStation OS"),
    ("Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox One)", "GamesConsole", "Windows"),
    ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)", "MobilePhone", "iOS"),
    ("Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X)", "Tablet", "iOS"),
    ("Mozilla/5.0 (Linux; Android 14; Pixel) Mobile Safari", "MobilePhone", "Android"),
    ("regent/1.0 (Linux; x86_64)", "SetTopBox", "Linux"),
    ("Kodi/20.2 (X11; Linux)", "MediaPlayer", "Linux"),
    ("Mozilla/5.0 (X11; CrOS x86_64)", "Desktop", "Chrome OS"),
    ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15)", "Desktop", "OS X"),
    ("Mozilla/5.0 (X11; Linux x86_64)", "Desktop", "Linux"), ("curl/8", "Unknown", nil),
  ])
  func `the type and system of a device are guessed from the User-Agent`(agent: String, type: String, system: String?) {
    let info = DeviceInformation().completed(byUserAgent: agent)
    #expect(info[.primaryHardwareType] == type)
    #expect(info[.osName] == system)
    #expect(info[.userAgent] == agent)
  }

  @Test func `a device with a name of its own is shown by it`() throws {
    let text = #"{"deviceName":" Living\u0007 room ","manufacturer":"Acme","model":"M"}"#
    let info = try #require(DeviceInformation(reading: encoded(text)))
    #expect(info.displayName == info[.deviceName])
    #expect(info.displayName?.contains("Living") == true)
    #expect(info.displayName?.contains("\u{7}") == false)
  }

  @Test func `the User-Agent does not replace values that the device sent`() throws {
    let info = try #require(DeviceInformation(reading: encoded(#"{"osName":"Linux","model":"M"}"#)))
    let complete = info.completed(byUserAgent: "AppleTV6,2")
    #expect(complete[.osName] == "Linux" && complete[.model] == "M")
    #expect(complete[.primaryHardwareType] == "SetTopBox")
    #expect(info.completed(byUserAgent: nil) == info)
  }

  @Test func `a device is shown by its manufacturer and model, else by its system`() {
    func shown(_ values: [DeviceInformation.Key: String]) -> String? {
      var info = DeviceInformation()
      for (key, value) in values { info[key] = value }
      return info.displayName
    }
    #expect(shown([:]) == nil)
    #expect(shown([.osName: "Linux"]) == "Linux")
    #expect(shown([.model: "Roku 4", .vendor: "roku"]) == "Roku 4")
    #expect(shown([.model: "BRAVIA", .manufacturer: "Sony", .vendor: "x"]) == "Sony BRAVIA")
  }
}

@Suite struct `Verification links` {
  @Test(arguments: [
    ("https://tv.example.com", "https://tv.example.com", "HTTPS://TV.EXAMPLE.COM/D/BCDFGHJK.00000001"),
    ("https://tv.example.com/", "https://tv.example.com", "HTTPS://TV.EXAMPLE.COM/D/BCDFGHJK.00000001"),
    ("http://10.0.0.2:8787", "http://10.0.0.2:8787", "HTTP://10.0.0.2:8787/D/BCDFGHJK.00000001"),
    (
      "https://example.com/Pair/", "https://example.com/Pair", "https://example.com/Pair/D/BCDFGHJK.00000001"
    ),
  ])
  func `a link without a path is in capitals`(base: String, url: String, complete: String) throws {
    let secret = try #require(LinkSecret([0, 0, 0, 0, 1, 9]))
    let link = VerificationLink(publicURL: base, code: try RegistrationCode(typed: "bcdfghjk"), secret: secret)
    #expect(link.url == url)
    #expect(link.complete == complete)
  }

  @Test func `the paths are those of the protocol`() throws {
    let code = try RegistrationCode(typed: "BCDFGHJK")
    let requestor = try #require(RequestorID("REF30"))
    #expect(Paths.regcode(requestor) == "/reggie/v1/REF30/regcode")
    #expect(Paths.regcode(requestor, code) == "/reggie/v1/REF30/regcode/BCDFGHJK")
    #expect(Paths.authenticate(code) == "/api/v1/authenticate/BCDFGHJK")
    #expect(Paths.checkAuthentication(code) == "/api/v1/checkauthn/BCDFGHJK")
    #expect(Paths.preauthorize(code) == "/api/v1/preauthorize/BCDFGHJK")
    #expect(Paths.config(requestor) == "/api/v1/config/REF30")
  }
}
