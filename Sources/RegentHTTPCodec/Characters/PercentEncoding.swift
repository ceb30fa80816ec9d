/// Percent-encoding for URLs and forms.
public enum PercentEncoding {
  /// Encodes a path segment, or a name or value of a query.
  ///
  /// Escapes everything except unreserved characters (RFC 3986 §2.3).
  public static func component(_ text: String) -> String {
    var encoded: [UInt8] = []
    append(text, to: &encoded, spaceAsPlus: false)
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Encodes fields as `application/x-www-form-urlencoded`, in the given order.
  public static func form(_ fields: [(name: String, value: String)]) -> String {
    var encoded: [UInt8] = []
    for (index, field) in fields.enumerated() {
      if index > 0 { encoded.append(Characters.ampersand) }
      append(field.name, to: &encoded, spaceAsPlus: true)
      encoded.append(Characters.equals)
      append(field.value, to: &encoded, spaceAsPlus: true)
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static func append(_ text: String, to encoded: inout [UInt8], spaceAsPlus: Bool) {
    for byte in text.utf8 {
      if Characters.isUnreserved(byte) {
        encoded.append(byte)
      } else if byte == Characters.space, spaceAsPlus {
        encoded.append(Characters.plus)
      } else {
        encoded.append(Characters.percent)
        encoded.append(Characters.hexDigit(byte >> 4))
        encoded.append(Characters.hexDigit(byte & 0x0F))
      }
    }
  }
}
