/// The column and parameter types that are supported, with PostgreSQL's OIDs.
enum ValueType: UInt32 {
  case boolean = 16
  case bytes = 17
  case name = 19
  case int8 = 20
  case int2 = 21
  case int4 = 23
  case text = 25
  case float4 = 700
  case float8 = 701
  case unknown = 705
  case characters = 1042
  case varying = 1043
}

extension SQLValue {
  /// Appends the value in PostgreSQL's binary form; appends nothing for NULL.
  ///
  /// `type` is the type that the statement expects. `place` is the parameter's number, counted from 1, for the error.
  func append(to bytes: inout [UInt8], as type: UInt32, place: Int) throws(PostgreSQLError) {
    let wanted = ValueType(rawValue: type)
    switch (self, wanted) {
    case (.null, _): return
    case (.integer(let number), .int8): appendBigEndian(number, to: &bytes)
    case (.integer(let number), .int4):
      guard let number = Int32(exactly: number) else { throw tooLarge(place) }
      appendBigEndian(number, to: &bytes)
    case (.integer(let number), .int2):
      guard let number = Int16(exactly: number) else { throw tooLarge(place) }
      appendBigEndian(number, to: &bytes)
    case (.integer(let number), .boolean) where number == 0 || number == 1: bytes.append(UInt8(number))
    case (.real(let number), .float8): appendBigEndian(number.bitPattern, to: &bytes)
    case (.blob(let blob), .bytes): bytes += blob
    case (.text(let text), .text), (.text(let text), .varying), (.text(let text), .characters),
      (.text(let text), .name), (.text(let text), .unknown):
      let start = bytes.count
      bytes += text.utf8
      // The server refuses a zero byte too, but this error comes before anything is sent.
      guard !bytes[start...].contains(0) else {
        throw PostgreSQLError(
          .value, "parameter \(place) is a text with a zero byte, which PostgreSQL cannot keep",
          hint: "send it as bytes")
      }
    default:
      let type = wanted.map { "\($0)" } ?? "type number \(type)"
      throw PostgreSQLError(
        .value, "parameter \(place) is \(self), and the statement wants \(type)",
        hint: "say the type in the statement, for example CAST(? AS BIGINT)")
    }
  }

  private func tooLarge(_ place: Int) -> PostgreSQLError {
    PostgreSQLError(.value, "parameter \(place) is larger than its column")
  }
}

private func appendBigEndian<Number: FixedWidthInteger>(_ number: Number, to bytes: inout [UInt8]) {
  for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
    bytes.append(UInt8(truncatingIfNeeded: number >> shift))
  }
}
