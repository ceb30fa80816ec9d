extension String {
  /// The address with its scheme and host in lower case, as browsers write them.
  ///
  /// Path, query and fragment are unchanged.
  package var withLowercaseOrigin: String {
    let end = originEnd
    return String(self[..<end]).asciiLowercased + self[end...]
  }

  /// Whether the address ends after the host and port: no path, query or fragment.
  package var isOnlyAnOrigin: Bool { originEnd == endIndex }

  private var originEnd: Index {
    guard let separator = firstRange(of: "://") else { return startIndex }
    return self[separator.upperBound...].firstIndex { "/?#".contains($0) } ?? endIndex
  }
}
