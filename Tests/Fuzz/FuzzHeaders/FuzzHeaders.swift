// FuzzHeaders: the headers whose values are parsed: cookies, media types, preferences, forwarding, credentials.

import FuzzSupport
import RegentHTTPCodec
import HTTPServer

/// Fuzzes one input: header values, one a line.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  let raw = input.split(separator: 10, omittingEmptySubsequences: false).prefix(8)
  let lines = raw.map { String(decoding: $0, as: UTF8.self) }
  checkCookies(lines)
  checkTypes(lines)
  if let wait = Preferences.wait(headerValues: lines) {
    promise("a wait is no longer than a day", (0...86_400).contains(wait))
  }
  _ = Preferences.wantsRepresentation(headerValues: lines)
  checkForwarded(lines)
  checkRemembered(raw.map(Array.init))
  return 0
}

/// Compares two requests built from six parts of the input: three parts before, in and after the credentials of each.
func checkRemembered(_ lines: [[UInt8]]) {
  guard lines.count >= 6 else { return }
  func request(_ parts: ArraySlice<[UInt8]>) -> Request? {
    // The parts are separated by LF, so that a part cannot contain one; a carriage return in a part becomes CR LF.
    let parts = parts.map { $0.flatMap { $0 == 13 ? [13, 10] : [$0] } }
    let head = Array("GET /a?".utf8) + parts[0] + Array(" HTTP/1.1\r\nHost: h\r\n".utf8) + parts[1] + parts[2]
    return try? Request(head: head + Array("\r\n\r\n".utf8))
  }
  guard let first = request(lines[..<3]), let second = request(lines[3..<6]),
    let known = RememberedHead(first, atMost: 1024)
  else { return }
  promise("a request has the likeness \"same\" to itself", known.likeness(of: first) == .same)
  func fields(_ request: Request) -> [[UInt8]] {
    request.withHead { head, bytes in
      head.table.fields.flatMap { field in
        [field.name.indices, field.value.indices].map { range in range.map { bytes[$0] } }
      }
    }
  }
  func others(_ request: Request) -> [[UInt8]] {
    let all = fields(request)
    return stride(from: 0, to: all.count, by: 2).filter {
      String(decoding: all[$0], as: UTF8.self).lowercased() != "authorization"
    }.flatMap { [all[$0], all[$0 + 1]] }
  }
  switch known.likeness(of: second) {
  case .same:
    promise(
      "requests of likeness \"same\" have equal targets and fields",
      first.target == second.target && fields(first) == fields(second))
  case .otherCredentials:
    promise(
      "requests of likeness \"other credentials\" have equal targets and other fields",
      first.target == second.target && others(first) == others(second))
    promise(
      "a request of likeness \"other credentials\" has one Authorization field",
      second.headers(.authorization).count == 1)
  case .other: break
  }
}

func checkCookies(_ lines: [String]) {
  let cookies = Cookies(headerValues: lines)
  let pieces = lines.flatMap { $0.utf8.split(separator: 59) }
    .filter { !$0.allSatisfy { $0 == 32 || $0 == 9 } }
  promise(
    "each cookie pair is read or counted as malformed", cookies.all.count + cookies.malformedCount == pieces.count)
  for cookie in cookies.all {
    // Everything that the reader accepts the writer must accept: both follow one grammar.
    promise(
      "a cookie that is read can be written",
      (try? SetCookie(cookie.name, cookie.value, isSecure: true)) != nil
        || cookie.name.lowercased().hasPrefix("__"))
    let again = Cookies(headerValues: ["\(cookie.name)=\(cookie.value)"])
    let isQuoted = cookie.value.hasPrefix("\"")
    promise("a cookie is read as it was written", isQuoted || again.all == [cookie])
  }
  if let only = cookies.all.first, cookies.all.count == 1 {
    promise("the value of a single cookie is found by its name", cookies.value(of: only.name) == only.value)
  }
}

func checkTypes(_ lines: [String]) {
  for line in lines {
    guard let type = MediaType(parsing: line) else { continue }
    promise(
      "a type is read as it was written",
      MediaType(parsing: type.description)?.matches(type) == true)
    promise("a type is in lower case", type.description == type.description.lowercased())
  }
  guard let accepted = AcceptedTypes(headerValues: lines) else { return }
  let offered = [MediaType.json, .xml, .html]
  let best = accepted.preferred(among: offered)
  for type in offered {
    let weight = accepted.weight(of: type)
    promise("a weight is between 0 and 1000", (0...1000).contains(weight))
    promise("no offered type weighs more than the preferred one", weight <= best.map(accepted.weight) ?? 0)
  }
}

func checkForwarded(_ lines: [String]) {
  guard let network = try? IPNetwork(parsing: "10.0.0.0/8"), let inside = IPAddress("10.1.2.3"),
    let outside = IPAddress("192.0.2.1")
  else { broken("the addresses of the target can be read") }
  let proxies = TrustedProxies([network])
  for headers in [
    ForwardedHeaders(forwarded: lines), ForwardedHeaders(forwardedFor: lines),
    ForwardedHeaders(forwarded: lines, forwardedFor: lines),
    ForwardedHeaders(forwardedProto: lines, forwardedHost: lines),
  ] {
    let stranger = ClientOrigin(address: outside, scheme: .http)
    promise(
      "forwarding headers of an untrusted client are ignored",
      proxies.origin(of: stranger, claimed: headers) == stranger)
    let proxy = ClientOrigin(address: inside, scheme: .http)
    let origin = proxies.origin(of: proxy, claimed: headers)
    promise("an origin has an address", origin.address != nil)
    promise("an address other than the proxy's was forwarded", origin.hops > 0 || origin.address == inside)
    // Values that a client writes before those of the proxy must have no effect.
    var longer = headers
    if !headers.forwardedFor.isEmpty, headers.forwarded.isEmpty, origin.hops > 0,
      let address = origin.address, !network.contains(address)
    {
      longer.forwardedFor.insert("203.0.113.66, 10.0.0.1", at: 0)
      promise(
        "values that the client wrote before the proxy change nothing",
        proxies.origin(of: proxy, claimed: longer) == origin)
    }
  }
}
