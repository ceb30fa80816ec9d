extension Hasher {
  /// Feeds bytes where they lie, all at once.
  package mutating func combine(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe combine(bytes: $0) }
  }
}
