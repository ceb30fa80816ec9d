extension String {
  /// The address with its scheme and host in lower case, as browsers write it; the rest as it is.
  package var withLowercaseOrigin: String {
    let end = originEnd
    return String(self[..<end]).asciiLowercased + self[end...]
  }

  /// Whether nothing follows the host and port.
  package var isOnlyAnOrigin: Bool { originEnd == endIndex }

  private var originEnd: Index {
    guard let separator = firstRange(of: "://") else { return startIndex }
    return self[separator.upperBound...].firstIndex { "/?#".contains($0) } ?? endIndex
  }
}
