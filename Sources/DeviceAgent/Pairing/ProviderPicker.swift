import RegentPlatform

/// A provider in the picker.
struct ProviderEntry: Sendable, Equatable {
  let id: String
  /// The name by which viewers know the provider.
  let name: String
  /// Whether the picker lists the provider before those that are not featured.
  let isFeatured: Bool

  init(id: String, name: String, isFeatured: Bool = false) {
    self.id = id
    self.name = name
    self.isFeatured = isFeatured
  }
}

/// A list to choose a provider from.
///
/// Typing filters the list, the arrow keys move the selection, and Enter chooses.
struct ProviderPicker: Sendable, Equatable {
  /// All providers, with the featured ones first.
  let providers: [ProviderEntry]
  /// The text that the viewer typed to filter the list.
  private(set) var query = ""
  /// The index of the selected provider in ``matching``.
  private(set) var selection = 0

  /// The effect of a key on the picker.
  enum Outcome: Equatable { case stays, chosen(String), cancelled }

  /// The maximum length of the filter text, so that a stuck key does not fill the memory.
  private static let longestQuery = 40

  /// Creates a list without a filter.
  ///
  /// The provider `last` is selected first if it is in the list.
  init(_ providers: [ProviderEntry], last: String? = nil) {
    self.providers = providers.filter(\.isFeatured) + providers.filter { !$0.isFeatured }
    selection = self.providers.firstIndex { $0.id.utf8.elementsEqual((last ?? "").utf8) } ?? 0
  }

  /// The providers that match the filter.
  ///
  /// Providers whose name begins with the filter text come first.
  var matching: [ProviderEntry] {
    let wanted = searchForm(of: query)
    guard !wanted.isEmpty else { return providers }
    let found = providers.filter { searchForm(of: $0.name).contains(wanted) }
    let first = found.filter { searchForm(of: $0.name).hasPrefix(wanted) }
    return first + found.filter { !searchForm(of: $0.name).hasPrefix(wanted) }
  }

  mutating func handle(_ key: Key, page: Int = 10) -> Outcome {
    let count = matching.count
    switch key {
    case .enter:
      guard matching.indices.contains(selection) else { return .stays }
      return .chosen(matching[selection].id)
    case .escape:
      guard !query.isEmpty else { return .cancelled }
      query = ""
      selection = 0
    case .up, .backTab: selection = max(0, selection - 1)
    case .down, .tab: selection = min(max(0, count - 1), selection + 1)
    case .pageUp: selection = max(0, selection - page)
    case .pageDown: selection = min(max(0, count - 1), selection + page)
    case .home: selection = 0
    case .end: selection = max(0, count - 1)
    case .backspace, .delete:
      if !query.isEmpty { query.removeLast() }
      selection = 0
    case .control("u"):
      query = ""
      selection = 0
    case .character(let character):
      if query.count < Self.longestQuery { query.append(character) }
      selection = 0
    case .control, .left, .right: break
    }
    return .stays
  }
}
