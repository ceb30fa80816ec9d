extension Viewer {
  /// The viewer's provider and account, such as `cable/anna`; the provider alone for a guest.
  public var title: String { account.map { "\(provider)/\($0)" } ?? provider.text }

  /// Whether the detail text of an audit line names this viewer by the title.
  ///
  /// It compares bytes. A title counts only between the marks that the service writes around titles, so that
  /// `cable/anna` is not found in `cable/annabel`.
  public func isNamed(in text: String) -> Bool {
    guard account != nil else { return false }
    let (bytes, wanted) = (Array(text.utf8), Array(title.utf8))
    var start = 0
    while start + wanted.count <= bytes.count {
      let end = start + wanted.count
      if bytes[start..<end].elementsEqual(wanted), start == 0 || bytes[start - 1] == UInt8(ascii: " "),
        Self.endsTitle(bytes[end...])
      {
        return true
      }
      start += 1
    }
    return false
  }

  private static func endsTitle(_ rest: ArraySlice<UInt8>) -> Bool {
    guard let first = rest.first else { return true }
    return ",;:".utf8.contains(first) || rest.starts(with: " has more than ".utf8)
  }
}
