public import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentPairing

/// The admin interface as calls: what `regentctl` uses.
///
/// Every call is one request over the service's Unix socket. Errors are sentences: that no service runs, that this user
/// may not, or what the service said.
public struct AdminClient: Sendable {
  /// The path of the socket.
  public let socket: String
  private let client: Client

  /// A client for a service; nothing is opened before the first call.
  ///
  /// - Parameters:
  ///   - socket: the path of the service's admin socket.
  ///   - client: what makes the calls.
  public init(socket: String, client: Client) {
    self.socket = socket
    self.client = client
  }
}

// MARK: - One call

extension AdminClient {
  /// Asks for a document.
  func document<Answer: AdminDocument>(
    _ method: Method, _ path: String, query: [(name: String, value: String?)] = [],
    _ body: JSONObject? = nil
  ) async throws(AdminError) -> Answer {
    let value = try await value(method, path, query: query, body)
    return try read { () throws(JSONShapeError) in try Answer(value: value, named: "answer") }
  }

  /// Asks for a list.
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

  /// Asks for a list page by page; each page is given away as it comes.
  func pages<Entry: AdminDocument>(
    _ path: String, query: [(name: String, value: String?)] = [], after place: (Entry) -> String,
    _ take: ([Entry]) -> Void
  ) async throws(AdminError) {
    var last: String?
    while true {
      let page: [Entry] = try await list(
        path, query: query + [("after", last), ("limit", String(AdminPaths.page))])
      take(page)
      // A service that gives no more than it was asked for ends here, and so does one that gives less.
      guard page.count >= AdminPaths.page, let end = page.last else { return }
      last = place(end)
    }
  }

  /// Asks for a whole list, page by page.
  func wholeList<Entry: AdminDocument>(
    _ path: String, query: [(name: String, value: String?)] = [], after place: (Entry) -> String
  ) async throws(AdminError) -> [Entry] {
    var all: [Entry] = []
    try await pages(path, query: query, after: place) { all += $0 }
    return all
  }

  /// Does something that has no answer.
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

  /// Sends a call and gives the body of its answer.
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
      if body != nil { request.addHeader(.contentType, "application/json") }
      // Copying and verifying a large database takes its time; people end a call with Ctrl-C.
      request.deadline = .seconds(600)
      request.responseLimit = 64 << 20
      response = try await client.send(request)
    } catch {
      throw AdminError(error, socket: socket)
    }
    guard !response.status.isSuccess else { return response.body }
    throw refusal(response)
  }

  /// The error that the service sent, or one about a program that is no Regent service.
  private func refusal(_ response: ClientResponse) -> AdminError {
    if let object = try? JSONValue(reading: response.body).object,
      let error = try? AdminError(object)
    {
      return error
    }
    if response.status == .uriTooLong {
      return AdminError(
        .notFound, "the name is too long: no record can have it",
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
      return try JSONValue(reading: bytes, limits: JSONLimits(bytes: 64 << 20))
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
  /// What a failed connection means here.
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
