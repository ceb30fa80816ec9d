// FuzzAnswers: the service's responses as a box reads them, and the files in which the box stores them. A document that
// is read is written and read again as the same document.

import FuzzSupport
import RegentJSON
import RegentPairingWire

@testable import AccessEnabler

/// Fuzzes one input: the first byte chooses the document, the rest is its JSON.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard let first = input.first else { return 0 }
  let json = Array(input.dropFirst())
  switch first {
  case UInt8(ascii: "R"): reread(RegcodeDocument.self, json)
  case UInt8(ascii: "A"): reread(AuthenticationDocument.self, json)
  case UInt8(ascii: "Z"): reread(AuthorizationDocument.self, json)
  case UInt8(ascii: "M"): reread(MediaTokenDocument.self, json)
  case UInt8(ascii: "K"): reread(ClientDocument.self, json)
  case UInt8(ascii: "T"): reread(AccessTokenDocument.self, json)
  case UInt8(ascii: "C"): reread(ConfigDocument.self, json)
  case UInt8(ascii: "P"): reread(PreauthorizationDocument.self, json)
  case UInt8(ascii: "E"): reread(ErrorDocument.self, json)
  case UInt8(ascii: "U"): reread(UserMetadataDocument.self, json)
  case UInt8(ascii: "S"): readStore(json)
  case UInt8(ascii: "I"): readInstallation(json)
  default: break
  }
  return 0
}

/// Compares what the document writes, because a reader may leave out members that it does not know.
private func reread<Document: ReadableDocument>(_: Document.Type, _ json: [UInt8]) {
  guard let document = try? Document(json: json) else { return }
  let written = document.bytes(as: .json)
  do {
    let again = try Document(json: written)
    promise(
      "a written document is read as the same document", again.bytes(as: .json) == written,
      String(decoding: written, as: UTF8.self))
  } catch {
    // The escapes of the new text may make it longer than a reader accepts.
    promise(
      "a written document can be read", written.count > Document.limits.bytes,
      "\(error): \(String(decoding: written, as: UTF8.self))")
  }
  // XML cannot contain every character; that it can be written at all is what counts.
  _ = document.bytes(as: .xml)
}

private func readStore(_ json: [UInt8]) {
  guard let object = (try? JSONValue(reading: json))?.object, let content = try? StoreContent(reading: object) else {
    return
  }
  let again = try? StoreContent(reading: content.json(device: "box"))
  promise("a written store is read as the same store", again == content, String(decoding: json, as: UTF8.self))
}

private func readInstallation(_ bytes: [UInt8]) {
  guard let installation = Installation(reading: bytes) else { return }
  let written = installation.bytes
  promise(
    "a written installation is read as the same one", Installation(reading: written)?.bytes == written,
    String(decoding: written, as: UTF8.self))
}
