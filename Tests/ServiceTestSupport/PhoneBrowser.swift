public import HTTPTestSupport
package import HTTPServer
internal import PairingService
import TestSupport

extension TestService {
  /// Everything, with the phone's pages from this package's `web` folder.
  package func phoneRouter() async throws -> PathPrefixHandler<some Handler> {
    let phone = try await phone()
    return PathPrefixHandler(
      core.options.basePath,
      ClockGuard(
        core, page: phone.unavailable,
        before: RememberedPolls(core, before: try Router(ServiceRoutes.all(core, phone), refuse: phone.refuse))))
  }

  /// Every route there is: method and pattern.
  package func mountedRoutes() async throws -> [(method: String, pattern: String)] {
    ServiceRoutes.all(core, try await phone()).mounted.map { ("\($0.method)", $0.pattern) }
  }

  private func phone() async throws -> Phone {
    let base = core.options.basePath
    return try await Phone(
      core, try base.isEmpty ? webPages.get() : PhonePages(webFiles.get(), base: base))
  }
}

private let webFiles = Result { () throws in
  try WebFiles(readingFolder: packageFolder() + "/web")
}
private let webPages = Result { () throws in try PhonePages(webFiles.get()) }

/// A browser without script: it keeps cookies, follows redirects and fills in the forms of the page it shows.
public struct PhoneBrowser: Sendable {
  /// What it sends requests with; a service that was started again has another.
  public var client: any TestClient
  /// What it keeps.
  public var cookies: [String: String] = [:]
  /// Header lines of every request.
  public var headers: [(name: String, value: String)] = []
  /// The page it shows.
  public private(set) var page = TestResponse.nothing
  public private(set) var address = ""
  private static let site = "tv.example.org"

  /// A browser that knows nothing yet.
  public init(_ client: any TestClient) { self.client = client }

  /// Opens an address and follows where it leads.
  @discardableResult
  public mutating func open(_ target: String) async throws -> TestResponse {
    try await go(TestRequest("GET", target), following: true)
  }

  /// Sends a form of the page: the one whose address is, or ends with, `action`; `fields` are what is typed, and the
  /// button that is pressed.
  @discardableResult
  public mutating func send(
    _ action: String, _ fields: [String: String] = [:], following: Bool = true
  ) async throws -> TestResponse {
    guard let form = PageForm.all(in: page.text).first(where: { $0.leads(to: action) }) else {
      throw NoSuchForm(description: "no form \(action) on \(address): \(page.text)")
    }
    let sent = form.hidden.merging(fields) { _, typed in typed }
    return try await post(form.action, sent, following: following)
  }

  /// Sends any form, as somebody would who made it up.
  @discardableResult
  public mutating func post(
    _ target: String, _ fields: [String: String], following: Bool = false,
    origin: String? = "https://tv.example.org"
  ) async throws -> TestResponse {
    let body = fields.sorted { $0.key < $1.key }
      .map { "\(PhoneBrowser.escaped($0.key))=\(PhoneBrowser.escaped($0.value))" }
      .joined(separator: "&")
    var request = TestRequest(
      "POST", target, headers: [("Content-Type", "application/x-www-form-urlencoded")],
      body: Array(body.utf8))
    if let origin { request.headers.append(("Origin", origin)) }
    return try await go(request, following: following)
  }

  /// The token that the forms of the page carry.
  public var formToken: String {
    PageForm.all(in: page.text).compactMap { $0.hidden["csrf"] }.first ?? ""
  }

  /// The cookie whose name ends so.
  public func cookie(_ ending: String) -> String? {
    cookies.first { $0.key.hasSuffix(ending) }?.value
  }

  private mutating func go(_ request: TestRequest, following: Bool) async throws -> TestResponse {
    var request = request
    request.headers += [("Host", Self.site)] + headers
    if !cookies.isEmpty {
      let line = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      request.headers.append(("Cookie", line.joined(separator: "; ")))
    }
    page = try await client.send(request)
    address = request.target
    for line in page.headers("set-cookie") { keep(line) }
    // What leads out of the service is for whoever asks where it leads.
    guard following, [302, 303].contains(page.status), let next = page.header("location"), next.hasPrefix("/") else {
      return page
    }
    return try await go(TestRequest("GET", next), following: true)
  }

  private mutating func keep(_ line: String) {
    let pair = line.prefix { $0 != ";" }.split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard pair.count == 2 else { return }
    cookies[String(pair[0])] = line.contains("Max-Age=0") ? nil : String(pair[1])
  }

  private static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + hex(byte)
    }.joined()
  }

  private static func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.count == 1 ? "0\(digits)" : digits
  }
}

/// A form as it stands in a page of ours.
public struct PageForm: Sendable {
  /// Where it goes.
  public let action: String
  /// What it sends without anybody typing.
  public let hidden: [String: String]

  /// The POST forms of a page.
  public static func all(in page: String) -> [PageForm] {
    page.components(between: "<form", and: "</form>").compactMap { form in
      guard form.contains("method=\"post\""), let action = attribute("action", in: form) else {
        return nil
      }
      var hidden: [String: String] = [:]
      for input in form.components(between: "<input", and: ">")
      where input.contains("type=\"hidden\"") {
        if let name = attribute("name", in: input) {
          hidden[name] = attribute("value", in: input) ?? ""
        }
      }
      return PageForm(action: action, hidden: hidden)
    }
  }

  func leads(to wanted: String) -> Bool {
    let path = String(action.prefix { $0 != "?" })
    return action == wanted || path == wanted || path.hasSuffix("/\(wanted)")
  }

  private static func attribute(_ name: String, in element: String) -> String? {
    element.components(between: " \(name)=\"", and: "\"").first?.unescaped
  }
}

/// The page has no such form.
public struct NoSuchForm: Error, CustomStringConvertible {
  /// What was looked for, and where.
  public let description: String
}

extension String {
  fileprivate func components(between start: String, and end: String) -> [String] {
    var found: [String] = []
    var rest = self[...]
    while let open = rest.firstRange(of: start) {
      rest = rest[open.upperBound...]
      guard let close = rest.firstRange(of: end) else { break }
      found.append(String(rest[..<close.lowerBound]))
      rest = rest[close.upperBound...]
    }
    return found
  }

  fileprivate var unescaped: String {
    [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
      .reduce(self) { $0.replacing($1.0, with: $1.1) }
  }
}
