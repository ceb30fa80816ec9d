internal import RegentJSON

/// A dictionary as the original SDK's functions take it.
///
/// Only strings, numbers and booleans are read.
struct OriginalDictionary {
  private let members: [String: Any]

  init(_ dictionary: [AnyHashable: Any]?) {
    let pairs = (dictionary ?? [:]).compactMap { key, value in (key.base as? String).map { ($0, value) } }
    members = Dictionary(pairs, uniquingKeysWith: { _, last in last })
  }

  /// The dictionary's members as strings.
  ///
  /// Numbers and booleans are converted.
  var texts: [String: String] { members.compactMapValues { OptionValue(original: $0)?.text } }

  /// The dictionary as `setOptions` takes it.
  ///
  /// A nested dictionary for `device_info` is converted to JSON text.
  var options: [String: OptionValue] {
    var options = members.compactMapValues { OptionValue(original: $0) }
    if let device = members[EnablerOptions.deviceInfoKey] as? [AnyHashable: Any] {
      let members = OriginalDictionary(device).options.sorted { $0.key < $1.key }
      options[EnablerOptions.deviceInfoKey] = .text(
        JSONObject(members.map { JSONObject.Member($0.key, $0.value.json) }).description)
    }
    return options
  }

  /// The filter for the provider picker, read from `TV_PROVIDERS` and `FEATURED_TV_PROVIDERS`.
  var filter: ProviderFilter {
    ProviderFilter(
      providers: members[ProviderFilter.providersKey] as? [String],
      featured: members[ProviderFilter.featuredKey] as? [String] ?? [])
  }

  /// The dictionary as `getMetadata` takes it, with an operation's number replaced by its name.
  var metadataArguments: [String: String] {
    var arguments = texts
    guard let value = members[MetadataArgument.operation] else { return arguments }
    let opcode: MetadataOpcode? =
      switch OptionValue(original: value) {
      case .number(let number): Int32(exactly: number).flatMap { MetadataOpcode(rawValue: $0) }
      default: value as? MetadataOpcode
      }
    if let opcode { arguments[MetadataArgument.operation] = opcode.name }
    return arguments
  }
}

extension OptionValue {
  /// Converts a value of an untyped dictionary; nil unless it is a string, number or boolean.
  init?(original value: Any) {
    switch value {
    case let value as OptionValue: self = value
    case let text as String: self = .text(text)
    case let flag as Bool: self = .flag(flag)
    case let number as any BinaryInteger:
      guard let number = Int64(exactly: number) else { return nil }
      self = .number(number)
    case let number as Double: self = .decimal(number)
    case let number as Float: self = .decimal(Double(number))
    default: return nil
    }
  }
}
