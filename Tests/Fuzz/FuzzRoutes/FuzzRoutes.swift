// FuzzRoutes: compares the routing tree with a simple matcher of path segments, on raw paths.

import FuzzSupport
import RegentHTTPCodec
import HTTPServer

/// Fuzzes one input: a raw path of a GET request.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let path = unsafe bytes(start, count)
  let head = Array("GET ".utf8) + path + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
  guard let request = try? Request(head: head), request.path == path else { return 0 }
  guard let router, case .now(let response) = router.handle(request) else {
    broken("the router answers at once")
  }
  let expected = reference(path)
  promise(
    "the status equals that of the reference", Int(response.status.rawValue) == expected.status,
    "\(response.status.rawValue) \(expected)")
  if expected.status == 200 {
    promise(
      "the route equals that of the reference", response.body == Array(expected.text.utf8),
      "\(String(decoding: response.body, as: UTF8.self)) \(expected)")
  }
  return 0
}

let router: Router? = {
  var routes = Routes()
  for pattern in [
    "/a/b[.json]", "/a/{x}[.json]", "/(D)/{x}", "/{x}/c/d", "/{x}/c/{y}", "/s/{t...}",
  ] {
    let names = pattern.split(separator: "{").dropFirst().compactMap { piece in
      piece.split(separator: "}").first.map { String($0.hasSuffix("...") ? $0.dropLast(3) : $0) }
    }
    routes.get(pattern) { _, found in
      let words = names.map { "\($0)=\(found[$0])" } + (found.suffix.map { [$0] } ?? [])
      return .now(.text(.ok, "\(pattern) \(words.joined(separator: ","))"))
    }
  }
  return try? Router(routes)
}()

func reference(_ path: [UInt8]) -> (status: Int, text: String) {
  guard !path.isEmpty else { return (404, "") }
  let raw = path.split(separator: 47, omittingEmptySubsequences: false).dropFirst().map(Array.init)
  var decoded: [[UInt8]] = []
  for (index, segment) in raw.enumerated() {
    guard let bytes = try? PercentDecoding.bytes(segment.span) else { return (400, "") }
    if bytes.isEmpty, index < raw.count - 1 { return (400, "") }
    if [[46], [46, 46]].contains(bytes) { return (400, "") }
    if bytes.contains(where: { $0 < 32 || $0 == 127 || $0 == 92 || $0 == 47 }) { return (400, "") }
    decoded.append(bytes)
  }
  func text(_ bytes: [UInt8]) -> String? { String(validating: bytes, as: UTF8.self) }
  func answer(_ pattern: String, _ words: [(String, [UInt8])], _ suffix: String? = nil) -> (
    Int, String
  ) {
    var all: [String] = []
    for (name, bytes) in words {
      guard let value = text(bytes) else { return (400, "") }
      all.append("\(name)=\(value)")
    }
    return (200, "\(pattern) \((all + (suffix.map { [$0] } ?? [])).joined(separator: ","))")
  }
  let words = raw.map { String(decoding: $0, as: UTF8.self) }
  if words.count == 2, words[0] == "a" {
    if words[1] == "b" { return answer("/a/b[.json]", []) }
    if words[1] == "b.json" { return answer("/a/b[.json]", [], ".json") }
    if words[1].hasSuffix(".json"), words[1].utf8.count > 5,
      let value = try? PercentDecoding.bytes(Array(raw[1].dropLast(5)).span)
    {
      return answer("/a/{x}[.json]", [("x", value)], ".json")
    }
    if !words[1].isEmpty { return answer("/a/{x}[.json]", [("x", decoded[1])]) }
  }
  if words.count == 2, words[0] == "D" || words[0] == "d", !words[1].isEmpty {
    return answer("/(D)/{x}", [("x", decoded[1])])
  }
  // Literals take precedence over captures, so a path below /s matches this route first.
  if words.count > 1, words[0] == "s", words[words.count - 1] != "" {
    return answer("/s/{t...}", [("t", Array(decoded[1...].joined(separator: [47])))])
  }
  if words.count == 3, words[1] == "c", !words[0].isEmpty {
    if words[2] == "d" { return answer("/{x}/c/d", [("x", decoded[0])]) }
    if !words[2].isEmpty { return answer("/{x}/c/{y}", [("x", decoded[0]), ("y", decoded[2])]) }
  }
  return (404, "")
}
