extension Hasher {
  /// Feeds all bytes of the span into the hash in one call, without a copy.
  package mutating func combine(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe combine(bytes: $0) }
  }
}
