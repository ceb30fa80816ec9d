/// The encoded parameters of one statement, in one contiguous buffer as libpq needs them.
struct Parameters {
  /// The position of each value in `bytes`.
  ///
  /// A `start` of nil means NULL.
  private(set) var places: [(start: Int?, count: Int)] = []
  /// The buffer starts with one byte, so that a single empty value has an address too: libpq reads a null pointer as
  /// NULL.
  private(set) var bytes: [UInt8] = [0]

  /// Encodes the values of a statement as the types that the server expects.
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
