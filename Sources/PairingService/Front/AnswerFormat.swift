internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairingWire

extension Request {
  /// The form in which this caller wants its answer.
  func wireFormat(suffix: String?, parameter: String?) -> WireFormat {
    let suffix = suffix.flatMap { WireFormat(rawValue: String($0.dropFirst())) }
    let named = WireFormat(suffix: suffix, parameter: parameter, jsonWeight: 0, xmlWeight: 0)
    // Most calls name a form or accept anything; only the others are worth reading the header for.
    let isNamed = suffix != nil || named == .json || parameter?.lowercased() == named.rawValue
    guard !isNamed, header(.accept) != nil, let accepted = acceptedTypes else { return named }
    let json = accepted.weight(of: .json)
    let xml = max(accepted.weight(of: .xml), accepted.weight(of: MediaType("text", "xml")))
    // `application/json, */*` is what many clients send that cannot read XML.
    let prefersJSON = json > xml || (json == xml && json > 0 && accepted.namesOnlyJSON)
    return prefersJSON ? .json : .xml
  }
}

extension AcceptedTypes {
  fileprivate var namesOnlyJSON: Bool {
    names(.json) && !names(.xml) && !names(MediaType("text", "xml"))
  }
}
