internal import Administration
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

/// The handler of a route on the admin socket.
typealias AdminAction = @Sendable (AdminCall) async throws(AdminError) -> AdminReply

/// A request on the admin socket, with the operator who sent it.
struct AdminCall: Sendable {
  let `operator`: OperatorName
  /// The role of the user who sent the call.
  let role: AdminRole
  let core: ServiceCore
  private let path: PathParameters
  private let query: FormParameters
  private let content: JSONObject?

  init(
    request: Request, path: PathParameters, operator name: OperatorName, role: AdminRole, core: ServiceCore
  ) throws(AdminError) {
    self.path = path
    self.core = core
    self.operator = name
    self.role = role
    do throws(RequestTextError) {
      query = try request.queryParameters()
    } catch {
      throw AdminError(.invalid, error.description)
    }
    content = request.body.isEmpty ? nil : try Self.object(request.body)
  }

  private static func object(_ bytes: [UInt8]) throws(AdminError) -> JSONObject {
    do throws(JSONError) {
      let value = try JSONValue(reading: bytes)
      if let object = value.object { return object }
    } catch {
      throw AdminError(.invalid, "the request is \(error)")
    }
    throw AdminError(.invalid, "the request's body is JSON, but not an object")
  }

  var now: Instant { core.clock.now }

  /// The JSON body of the request; throws when it has none.
  var body: JSONObject {
    get throws(AdminError) {
      guard let content else { throw AdminError(.invalid, "the request has no body") }
      return content
    }
  }

  /// The JSON body of the request; empty when it has none.
  var optionalBody: JSONObject { content ?? [:] }

  func document<Document: AdminDocument>() throws(AdminError) -> Document {
    let body = try body
    return try shaped { () throws(JSONShapeError) in try Document(body) }
  }

  /// A parameter that the route captured from the path, as unchecked text.
  func text(_ name: String) -> String { path[name] }

  /// A query parameter of the request; throws when it occurs more than once.
  func parameter(_ name: String) throws(AdminError) -> String? {
    do throws(FormError) {
      return try query.single(name)
    } catch {
      throw AdminError(.invalid, error.description)
    }
  }

  /// Reads an identifier from the path of the request.
  ///
  /// Text that cannot be an identifier is reported as “not found”.
  func identifier<Kind>(_ name: String, _ what: String) throws(AdminError) -> Identifier<Kind> {
    guard let identifier = Identifier<Kind>(path[name]) else { throw .missing(what, path[name]) }
    return identifier
  }

  func identifier<Kind>(parameter name: String, _ what: String)
    throws(AdminError) -> Identifier<Kind>
  {
    guard let text = try parameter(name) else {
      throw AdminError(.invalid, "the parameter \"\(name)\" is missing")
    }
    guard let identifier = Identifier<Kind>(text) else { throw .missing(what, text) }
    return identifier
  }

  func optionalIdentifier<Kind>(parameter name: String, _ what: String)
    throws(AdminError) -> Identifier<Kind>?
  {
    guard try parameter(name) != nil else { return nil }
    return try identifier(parameter: name, what)
  }

  /// Reads a time from a query parameter, in milliseconds since 1970; nil when the parameter is missing.
  func instant(parameter name: String) throws(AdminError) -> Instant? {
    guard let text = try parameter(name) else { return nil }
    guard let milliseconds = Int64(text) else {
      throw AdminError(.invalid, "the parameter \(name) must be a time in milliseconds since 1970")
    }
    return Instant(milliseconds: milliseconds)
  }

  /// The number of entries on a page: the parameter `limit`, at most ``AdminPaths/page``.
  func limit() throws(AdminError) -> Int {
    guard let text = try parameter("limit") else { return AdminPaths.page }
    guard let number = Int(text), number > 0 else {
      throw AdminError(.invalid, "the parameter \"limit\" must be a number from 1")
    }
    return min(number, AdminPaths.page)
  }

  /// Makes an audit entry for an action of this operator.
  func entry(_ action: String, _ subject: String, detail: String = "") -> AuditEntry {
    core.audit.entry(.operator(`operator`), action, subject, detail: detail)
  }
}

/// The response of a route on the admin socket.
enum AdminReply: Sendable {
  case document(JSONObject)
  case list([JSONValue])
  case bytes([UInt8])
  case done

  static func document(_ document: some AdminDocument) -> AdminReply {
    .document(document.object)
  }

  static func list(of documents: [some AdminDocument]) -> AdminReply {
    .list(documents.map(\.json))
  }

  var response: Response {
    var response =
      switch self {
      case .document(let object): Response(.ok, type: "application/json", body: object.bytes())
      case .list(let values):
        Response(.ok, type: "application/json", body: JSONValue.array(values).bytes())
      case .bytes(let bytes): Response(.ok, type: "application/octet-stream", body: bytes)
      case .done: Response(.noContent)
      }
    response.addHeader(.cacheControl, "no-store")
    return response
  }
}
