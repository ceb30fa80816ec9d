import RegentJSON
import RegentPairing

/// The content of a token store.
struct StoreContent: Equatable, Sendable {
  var requestors: [String: RequestorTokens] = [:]
  /// The OAuth clients that services registered for this installation.
  var clients: [String: RegisteredClient] = [:]
  /// The latest time that a service with a valid certificate reported, in milliseconds since 1970.
  var serverTime: Int64 = 0

  mutating func apply(_ change: StoreChange, for requestor: String) {
    requestors[requestor, default: RequestorTokens()].apply(change)
  }
}

/// A registered OAuth client: `client_id` and `client_secret`.
struct RegisteredClient: Equatable, Sendable {
  var id: String
  var secret: String
}

// MARK: JSON form

extension StoreContent {
  func json(device: String) -> JSONObject {
    [
      "version": 1, "device": .string(device), "serverTime": .integer(serverTime),
      "requestors": .object(
        JSONObject(
          requestors.sorted { $0.key < $1.key }.map { .init($0.key, .object($0.value.json)) })),
      "clients": .object(
        JSONObject(
          clients.sorted { $0.key < $1.key }.map {
            .init(
              $0.key, ["id": .string($0.value.id), "secret": .string($0.value.secret)])
          })),
    ]
  }

  init(reading object: JSONObject) throws(JSONShapeError) {
    guard try object.int64("version") == 1 else {
      throw JSONShapeError(name: "version", expected: "1")
    }
    serverTime = try object.optionalInt64("serverTime") ?? 0
    for member in try object.object("requestors").members {
      guard let tokens = member.value.object else {
        throw JSONShapeError(name: "requestors", expected: "an object of objects")
      }
      requestors[member.name] = try RequestorTokens(reading: tokens)
    }
    for member in try object.object("clients").members {
      guard let client = member.value.object else {
        throw JSONShapeError(name: "clients", expected: "an object of objects")
      }
      clients[member.name] = RegisteredClient(
        id: try client.string("id"), secret: try client.string("secret"))
    }
  }
}

extension RequestorTokens {
  fileprivate var json: JSONObject {
    var object = JSONObject()
    object["authentication"] = authentication.map { .object($0.json) }
    object["selected"] = selected.map { .object($0.json) }
    object["pending"] = pending.map { .object($0.offer.json) }
    object["permits"] = .object(
      JSONObject(
        permits.sorted { $0.key < $1.key }.map {
          .init(
            $0.key,
            [
              "expires": .integer($0.value.expires.milliseconds),
              "source": .string($0.value.source.rawValue),
            ])
        }))
    object["unfinishedLogouts"] = .texts(unfinishedLogouts)
    return object
  }

  fileprivate init(reading object: JSONObject) throws(JSONShapeError) {
    if let kept = try object.optionalObject("authentication") {
      authentication = try StoredAuthentication(reading: kept)
    }
    if let provider = try object.optionalObject("selected") {
      selected = try MVPD(reading: provider)
    }
    if let offer = try object.optionalObject("pending") {
      pending = PendingCode(offer: try RegistrationOffer(reading: offer))
    }
    for member in try object.object("permits").members {
      guard let permit = member.value.object,
        let source = DecisionSource(rawValue: try permit.string("source"))
      else { throw JSONShapeError(name: "permits", expected: "an object of permits") }
      permits[member.name] = StoredPermit(
        expires: Instant(milliseconds: try permit.int64("expires")), source: source)
    }
    unfinishedLogouts = try object.strings("unfinishedLogouts")
  }
}

extension StoredAuthentication {
  fileprivate var json: JSONObject {
    [
      "provider": .object(signIn.provider.json), "userID": .string(signIn.userID),
      "expires": .integer(signIn.expires.milliseconds),
      // Earlier versions do not know `platform` and would treat a store with this value as damaged.
      "source": .string((signIn.source == .platform ? .regular : signIn.source).rawValue),
      "fromPlatform": .bool(signIn.source == .platform), "service": .string(service),
    ]
  }

  fileprivate init(reading object: JSONObject) throws(JSONShapeError) {
    guard var source = SignIn.Source(rawValue: try object.string("source")) else {
      throw JSONShapeError(name: "source", expected: "a known source")
    }
    if try object.optionalBool("fromPlatform") == true { source = .platform }
    signIn = SignIn(
      provider: try MVPD(reading: object.object("provider")),
      userID: try object.string("userID"),
      expires: Instant(milliseconds: try object.int64("expires")), source: source)
    service = try object.string("service")
  }
}

extension RegistrationOffer {
  fileprivate var json: JSONObject {
    var object: JSONObject = [
      "code": .string(code), "display": .string(display), "url": .string(url),
      "urlComplete": .string(urlComplete), "expires": .integer(expires.milliseconds),
      "service": .string(service),
    ]
    object["provider"] = provider.map { .object($0.json) }
    return object
  }

  fileprivate init(reading object: JSONObject) throws(JSONShapeError) {
    self.init(
      code: try object.string("code"), display: try object.string("display"),
      url: try object.string("url"), urlComplete: try object.string("urlComplete"),
      expires: Instant(milliseconds: try object.int64("expires")),
      provider: try object.optionalObject("provider").map { object throws(JSONShapeError) in
        try MVPD(reading: object)
      }, service: try object.string("service"))
  }
}

extension MVPD {
  fileprivate var json: JSONObject {
    var object: JSONObject = [
      "id": .string(id), "displayName": .string(displayName),
      "enablePlatformServices": .bool(enablePlatformServices),
      "isTemporaryPass": .bool(isTemporaryPass), "isFeatured": .bool(isFeatured),
      "wantsSecureSheet": .bool(wantsSecureSheet), "wantsIdentity": .bool(wantsIdentity),
    ]
    object["logoURL"] = logoURL.map(JSONValue.string)
    object["boardingStatus"] = boardingStatus.map { .string($0.rawValue) }
    return object
  }

  fileprivate init(reading object: JSONObject) throws(JSONShapeError) {
    self.init(
      id: try object.string("id"), displayName: try object.string("displayName"),
      logoURL: try object.optionalString("logoURL"),
      enablePlatformServices: try object.bool("enablePlatformServices"),
      boardingStatus: try object.optionalString("boardingStatus").flatMap(BoardingStatus.init),
      isTemporaryPass: try object.bool("isTemporaryPass"),
      isFeatured: try object.bool("isFeatured"),
      wantsSecureSheet: try object.bool("wantsSecureSheet"),
      wantsIdentity: try object.optionalBool("wantsIdentity") ?? false)
  }
}

extension JSONValue {
  fileprivate static func texts(_ texts: [String]) -> JSONValue {
    .array(texts.map(JSONValue.string))
  }
}
