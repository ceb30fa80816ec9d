import RegentCryptography
internal import RegentEncodings
import RegentJSON

/// Texts by name as base64 of a JSON object, names in order.
func encoded(_ texts: [String: String]) -> String { Base64.encode(jsonBytes(texts)) }

/// Texts by name as a JSON object, names in order.
func jsonBytes(_ texts: [String: String]) -> [UInt8] {
  JSONObject(texts.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }).bytes()
}
