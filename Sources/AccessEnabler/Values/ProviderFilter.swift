/// Which providers the platform's picker shows, and in which order.
///
/// The picker of `displayProviderDialog` shows all: there a filter has no meaning.
public struct ProviderFilter: Hashable, Sendable {
  /// The key of ``providers`` in the dictionary form.
  public static let providersKey = "TV_PROVIDERS"
  /// The key of ``featured`` in the dictionary form.
  public static let featuredKey = "FEATURED_TV_PROVIDERS"

  /// The ids to show, in order; none means all.
  public var providers: [String]?
  /// The ids to show first; each must also be in ``providers``.
  public var featured: [String]

  /// A filter; those of `featured` that are not in `providers` are left out.
  public init(providers: [String]? = nil, featured: [String] = []) {
    self.providers = providers
    self.featured = featured.filter { providers?.contains($0) ?? true }
  }

  /// The older form: one array of the ids to show, in order.
  public init(_ providers: [String]) { self.init(providers: providers) }

  /// The dictionary form: `TV_PROVIDERS` and `FEATURED_TV_PROVIDERS`.
  public init(_ dictionary: [String: [String]]) {
    self.init(
      providers: dictionary[Self.providersKey], featured: dictionary[Self.featuredKey] ?? [])
  }
}

extension String {
  /// Whether both are the same bytes: `==` takes the Kelvin sign for a K.
  func isSameText(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
