import RegentCryptography
internal import RegentEncodings
import RegentJSON

/// The base64 of a JSON object with sorted keys.
func encoded(_ texts: [String: String]) -> String { Base64.encode(jsonBytes(texts)) }

/// The texts as a JSON object with sorted keys.
func jsonBytes(_ texts: [String: String]) -> [UInt8] {
  JSONObject(texts.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }).bytes()
}
