extension [UInt8] {
  /// Makes an array of `count` zeros.
  ///
  /// The initialiser copies a collection, because `Array(repeating:count:)` and the initialisers with uninitialised
  /// capacity look up their own type by name at each call. That is three quarters of the cost of an array of a few
  /// dozen bytes.
  package init(zeros count: Int) { self = Array(repeatElement(0, count: count)) }

  /// Copies the span into a new array, without the lookup of a type by name.
  package init(copying bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }
}
