extension [UInt8] {
  /// So many zeros.
  ///
  /// A copy of a collection, because `Array(repeating:count:)` and the initialisers that leave room to fill look their
  /// own type up by name each time, which is three quarters of what an array of a few dozen bytes costs.
  package init(zeros count: Int) { self = Array(repeatElement(0, count: count)) }

  /// What lies there, as an array of its own: one copy, and no type is looked up.
  package init(copying bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }
}
