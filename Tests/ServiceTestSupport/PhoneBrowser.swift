public import HTTPTestSupport
package import HTTPServer
internal import PairingService
import TestSupport

extension TestService {
  /// The handler of all routes, including the phone's pages from this package's `web` folder.
  package func phoneRouter() async throws -> PathPrefixHandler<some Handler> {
    let phone = try await phone()
    return PathPrefixHandler(
      core.options.basePath,
      ClockGuard(
        core, page: phone.unavailable,
        before: RememberedPolls(core, before: try Router(ServiceRoutes.all(core, phone), refuse: phone.refuse))))
  }

  /// The method and the pattern of every route.
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

/// A browser without scripts: it keeps cookies, follows redirects and fills in the forms of its page.
public struct PhoneBrowser: Sendable {
  /// The client that sends the requests.
  ///
  /// After a restart of the service it must be replaced.
  public var client: any TestClient
  public var cookies: [String: String] = [:]
  /// Header lines that are added to every request.
  public var headers: [(name: String, value: String)] = []
  public private(set) var page = TestResponse.nothing
  public private(set) var address = ""
  private static let site = "tv.example.org"

  public init(_ client: any TestClient) { self.client = client }

  /// Opens an address and follows redirects.
  @discardableResult
  public mutating func open(_ target: String) async throws -> TestResponse {
    try await go(TestRequest("GET", target), following: true)
  }

  /// Sends the form of the page whose address is, or ends with, `action`.
  ///
  /// `fields` are the typed values and the pressed button.
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

  /// Sends a form that need not be on the page, as an attacker could.
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

  /// The CSRF token in the forms of the page.
  public var formToken: String {
    PageForm.all(in: page.text).compactMap { $0.hidden["csrf"] }.first ?? ""
  }

  /// The value of the cookie whose name has this ending.
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
    // A redirect to another site is not followed: the caller checks its target.
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

/// A form in one of the service's pages.
public struct PageForm: Sendable {
  /// The address that the form is sent to.
  public let action: String
  /// The names and values of its hidden fields.
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

/// An error: the page has no such form.
public struct NoSuchForm: Error, CustomStringConvertible {
  /// The form that was sought, the address and the page.
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
