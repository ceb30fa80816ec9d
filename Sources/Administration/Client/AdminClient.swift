public import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentPairing

/// The client of the admin interface, used by `regentctl`.
///
/// Each call is one HTTP request over the service's Unix socket. Errors are sentences for operators: no service is
/// running, this user has no permission, or the service's own error.
public struct AdminClient: Sendable {
  public let socket: String
  private let client: Client
  /// The person who became root to make the calls, for the audit log.
  private let invoker: String?

  /// Makes a client for the admin socket at this path.
  ///
  /// It connects only when the first call is made.
  public init(socket: String, client: Client, invoker: String? = nil) {
    self.socket = socket
    self.client = client
    self.invoker = invoker
  }
}

// MARK: - Requests

extension AdminClient {
  func document<Answer: AdminDocument>(
    _ method: Method, _ path: String, query: [(name: String, value: String?)] = [],
    _ body: JSONObject? = nil
  ) async throws(AdminError) -> Answer {
    let value = try await value(method, path, query: query, body)
    return try read { () throws(JSONShapeError) in try Answer(value: value, named: "answer") }
  }

  func list<Entry: AdminDocument>(
    _ path: String, query: [(name: String, value: String?)] = [], method: Method = .get, _ body: JSONObject? = nil
  ) async throws(AdminError) -> [Entry] {
    let value = try await value(method, path, query: query, body)
    return try read { () throws(JSONShapeError) in
      guard let array = value.array else {
        throw JSONShapeError(name: "answer", expected: "an array")
      }
      var entries: [Entry] = []
      for element in array { entries.append(try Entry(value: element, named: "answer")) }
      return entries
    }
  }

  /// Requests a list page by page; `take` gets each page as it arrives.
  func pages<Entry: AdminDocument>(
    _ path: String, query: [(name: String, value: String?)] = [], after place: (Entry) -> String,
    _ take: ([Entry]) -> Void
  ) async throws(AdminError) {
    var last: String?
    while true {
      let page: [Entry] = try await list(
        path, query: query + [("after", last), ("limit", String(AdminPaths.page))])
      take(page)
      // A page that is shorter than requested is the last one.
      guard page.count >= AdminPaths.page, let end = page.last else { return }
      last = place(end)
    }
  }

  /// Requests a whole list, page by page.
  func wholeList<Entry: AdminDocument>(
    _ path: String, query: [(name: String, value: String?)] = [], after place: (Entry) -> String
  ) async throws(AdminError) -> [Entry] {
    var all: [Entry] = []
    try await pages(path, query: query, after: place) { all += $0 }
    return all
  }

  /// Sends a request to the admin interface whose response has no content.
  func act(
    _ method: Method, _ path: String, query: [(name: String, value: String?)] = [],
    _ body: JSONObject? = nil
  ) async throws(AdminError) {
    _ = try await send(method, path, query, body)
  }

  private func value(
    _ method: Method, _ path: String, query: [(name: String, value: String?)] = [],
    _ body: JSONObject? = nil
  ) async throws(AdminError) -> JSONValue {
    let bytes = try await send(method, path, query, body)
    return try readJSON(bytes)
  }

  /// Sends a request to the admin interface and returns the body of its response.
  func send(
    _ method: Method, _ path: String, _ query: [(name: String, value: String?)],
    _ body: JSONObject? = nil
  ) async throws(AdminError) -> [UInt8] {
    let fields = query.compactMap { field in field.value.map { (name: field.name, value: $0) } }
    let target = fields.isEmpty ? path : "\(path)?\(PercentEncoding.form(fields))"
    let response: ClientResponse
    do throws(ClientError) {
      var request = ClientRequest(
        method, try ClientURL(unixSocket: socket, target: target), body: body?.bytes() ?? [])
      request.addHeader(.accept, "application/json")
      if let invoker, let name = HeaderName(AdminPaths.invokerHeader) {
        request.addHeader(name, invoker)
      }
      if body != nil { request.addHeader(.contentType, "application/json") }
      // The deadline is long, because copying and verifying a large database takes minutes. An operator can end the
      // command earlier with Ctrl-C.
      request.deadline = .seconds(600)
      request.responseLimit = 64 << 20
      response = try await client.send(request)
    } catch {
      throw AdminError(error, socket: socket)
    }
    guard !response.status.isSuccess else { return response.body }
    throw refusal(response)
  }

  /// Reads the error from a response, or explains that the peer is not a Regent service.
  private func refusal(_ response: ClientResponse) -> AdminError {
    if let object = try? JSONValue(reading: response.body).object,
      let error = try? AdminError(object)
    {
      return error
    }
    if response.status == .uriTooLong {
      return AdminError(
        .notFound, "the name in the command is too long: no record can have it",
        hint: "check the spelling")
    }
    if response.status == .serviceUnavailable {
      return AdminError(
        .unavailable, "the service is overloaded: it accepts no more connections on \(socket)",
        hint: "try again in a few seconds; ss -xp | grep \(socket) lists the open connections")
    }
    return AdminError(
      .failed, "unexpected answer from \(socket): \(response.status)",
      hint: "check that it is the admin socket of regentd, and that regentctl and regentd have the same version")
  }

  private func readJSON(_ bytes: [UInt8]) throws(AdminError) -> JSONValue {
    do throws(JSONError) {
      return try JSONValue(reading: bytes, limits: JSONLimits(bytes: 64 << 20, allowsManyMarks: true))
    } catch {
      throw AdminError(
        .failed, "the service's answer is \(error)",
        hint: "check that \(socket) is the admin socket of regentd")
    }
  }

  private func read<Value>(_ read: () throws(JSONShapeError) -> Value) throws(AdminError) -> Value {
    do throws(JSONShapeError) {
      return try read()
    } catch {
      throw AdminError(
        .failed, "unexpected answer from the service: \(error)",
        hint: "check that regentctl and regentd have the same version")
    }
  }
}

extension AdminError {
  /// Explains a failed connection to the admin socket.
  init(_ error: ClientError, socket: String) {
    switch error.kind {
    case .unreachable(.noSocket), .unreachable(.refused):
      self.init(
        .notRunning, "the service is not running: no program listens on \(socket)",
        hint: "start it: systemctl start regentd (journalctl -u regentd -n 20 shows why it ended) or regentd serve; "
          + "if it uses another socket, add --socket FILE"
      )
    case .unreachable(.notAllowed):
      self.init(
        .notAllowed, "this user may not use \(socket)",
        hint: "use sudo, or join the group: sudo usermod -aG regent-admin $USER, then log in again")
    default: self.init(.failed, error.description, hint: error.hint)
    }
  }
}
