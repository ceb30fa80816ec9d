import RegentPlatform

/// A provider as a viewer knows it.
struct ProviderEntry: Sendable, Equatable {
  /// What the service calls it.
  let id: String
  /// What people call it.
  let name: String
  /// Whether it is shown before the others.
  let isFeatured: Bool

  init(id: String, name: String, isFeatured: Bool = false) {
    self.id = id
    self.name = name
    self.isFeatured = isFeatured
  }
}

/// A list to choose from: typing narrows it, arrows move, Enter takes.
struct ProviderPicker: Sendable, Equatable {
  /// All of them, those featured first.
  let providers: [ProviderEntry]
  /// What was typed.
  private(set) var query = ""
  /// Which of the matching ones is marked.
  private(set) var selection = 0

  /// What a key led to.
  enum Outcome: Equatable { case stays, chosen(String), cancelled }

  /// More than anybody types; a stuck key must not fill the memory.
  private static let longestQuery = 40

  /// A list with nothing typed yet; `last` is marked first when it is there.
  init(_ providers: [ProviderEntry], last: String? = nil) {
    self.providers = providers.filter(\.isFeatured) + providers.filter { !$0.isFeatured }
    selection = self.providers.firstIndex { $0.id.utf8.elementsEqual((last ?? "").utf8) } ?? 0
  }

  /// Those that fit what was typed, names that begin with it first.
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
