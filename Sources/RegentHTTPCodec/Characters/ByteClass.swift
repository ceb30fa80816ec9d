// The character classes of RFC 9110 and RFC 3986, each as two 64-bit masks, which need no lookup table and no branches.

@inline(__always)
private func contains(_ low: UInt64, _ high: UInt64, _ byte: UInt8) -> Bool {
  let mask = byte < 64 ? low : high
  return byte < 128 && (mask >> UInt64(byte & 63)) & 1 == 1
}

extension UInt8 {
  /// Whether the byte is a tchar: methods and field names consist of these characters (RFC 9110).
  @inline(__always) var isToken: Bool {
    contains(0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE, self)
  }

  /// Whether a field value may contain this byte: visible characters, obs-text, space and tab.
  ///
  /// Other control characters are excluded.
  @inline(__always) var isFieldValue: Bool { (self >= 0x20 && self != 0x7F) || self == 0x09 }

  /// Whether a path may contain this byte: pchar, `/` and `%` (RFC 3986).
  @inline(__always) var isPath: Bool {
    contains(0x2FFF_FFF2_0000_0000, 0x47FF_FFFE_87FF_FFFF, self)
  }

  /// Whether a query may contain this byte: the characters of RFC 3986, and those that browsers do not escape there (`[
  /// ] ^ { | }` and the back quote).
  @inline(__always) var isQuery: Bool {
    contains(0xAFFF_FFF2_0000_0000, 0x7FFF_FFFF_EFFF_FFFF, self)
  }

  /// Whether a registered name or an IPv4 address may contain this byte; sub-delims and percent-escapes are excluded.
  @inline(__always) var isHostName: Bool {
    contains(0x03FF_6000_0000_0000, 0x47FF_FFFE_87FF_FFFE, self)
  }

  @inline(__always) var isDigit: Bool { self &- 0x30 < 10 }

  /// The value of a hexadecimal digit; nil for other bytes.
  @inline(__always) package var hexValue: UInt8? {
    if isDigit { return self &- 0x30 }
    let letter = (self | 0x20) &- 0x61
    return letter < 6 ? letter &+ 10 : nil
  }

  /// The byte in lower case if it is an ASCII capital, otherwise the byte unchanged.
  @inline(__always) package var lowered: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
