/// The providers that the picker for the box's shared account lists, and their order.
///
/// The filter does not affect `displayProviderDialog`, which lists all providers.
public struct ProviderFilter: Hashable, Sendable {
  /// The key of ``providers`` in the dictionary form.
  public static let providersKey = "TV_PROVIDERS"
  /// The key of ``featured`` in the dictionary form.
  public static let featuredKey = "FEATURED_TV_PROVIDERS"

  /// The ids of the providers to list, in order; nil means all.
  public var providers: [String]?
  /// The ids of the providers to list first.
  ///
  /// Each must also be in ``providers``.
  public var featured: [String]

  /// Creates a filter.
  ///
  /// Ids in `featured` that are not in `providers` are left out.
  public init(providers: [String]? = nil, featured: [String] = []) {
    self.providers = providers
    self.featured = featured.filter { providers?.contains($0) ?? true }
  }

  /// Creates a filter from the older form, an array of the ids to list in order.
  public init(_ providers: [String]) { self.init(providers: providers) }

  /// Creates a filter from the dictionary form, with the keys `TV_PROVIDERS` and `FEATURED_TV_PROVIDERS`.
  public init(_ dictionary: [String: [String]]) {
    self.init(
      providers: dictionary[Self.providersKey], featured: dictionary[Self.featuredKey] ?? [])
  }
}

extension String {
  /// Whether both strings have the same bytes.
  ///
  /// Swift's `==` treats the Kelvin sign and K as equal.
  func isSameText(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
