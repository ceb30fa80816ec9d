/// The values of one statement in the form in which libpq takes them, in one piece of memory.
struct Parameters {
  /// Where a value lies in `bytes`; without a beginning it is null.
  private(set) var places: [(start: Int?, count: Int)] = []
  /// One byte more, so that also a single empty value has an address: a null pointer would be null.
  private(set) var bytes: [UInt8] = [0]

  /// Puts the values of a statement into the types that the server wants.
  init(_ sql: SQL, as types: [UInt32]) throws(PostgreSQLError) {
    guard types.count == sql.values.count else {
      throw PostgreSQLError(.value, "\(types.count) values are needed, \(sql.values.count) were given", sql: sql.text)
    }
    places.reserveCapacity(types.count)
    bytes.reserveCapacity(32 * types.count)
    for (number, value) in sql.values.enumerated() {
      let start = bytes.count
      do throws(PostgreSQLError) {
        try value.append(to: &bytes, as: types[number], place: number + 1)
      } catch {
        throw PostgreSQLError(error.kind, error.message, sql: sql.text, hint: error.hint)
      }
      places.append((value == .null ? nil : start, bytes.count - start))
    }
  }
}
