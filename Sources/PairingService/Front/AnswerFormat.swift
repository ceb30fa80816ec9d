internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairingWire

extension Request {
  /// The format in which the client wants the response.
  func wireFormat(suffix: String?, parameter: String?) -> WireFormat {
    let suffix = suffix.flatMap { WireFormat(rawValue: String($0.dropFirst())) }
    let named = WireFormat(suffix: suffix, parameter: parameter, jsonWeight: 0, xmlWeight: 0)
    // The `Accept` header is parsed only when it matters: most requests name a format or accept any.
    let isNamed = suffix != nil || named == .json || parameter?.lowercased() == named.rawValue
    guard !isNamed, header(.accept) != nil, let accepted = acceptedTypes else { return named }
    let json = accepted.weight(of: .json)
    let xml = max(accepted.weight(of: .xml), accepted.weight(of: MediaType("text", "xml")))
    // Many clients that cannot read XML send `application/json, */*`, so equal weights choose JSON.
    let prefersJSON = json > xml || (json == xml && json > 0 && accepted.namesOnlyJSON)
    return prefersJSON ? .json : .xml
  }
}

extension AcceptedTypes {
  fileprivate var namesOnlyJSON: Bool {
    names(.json) && !names(.xml) && !names(MediaType("text", "xml"))
  }
}
