internal import RegentJSON

/// A dictionary as the original's calls take it; of its members those with texts, numbers and truth values are read.
struct OriginalDictionary {
  private let members: [String: Any]

  init(_ dictionary: [AnyHashable: Any]?) {
    let pairs = (dictionary ?? [:]).compactMap { key, value in (key.base as? String).map { ($0, value) } }
    members = Dictionary(pairs, uniquingKeysWith: { _, last in last })
  }

  /// The members that have a text; numbers and truth values are written as text.
  var texts: [String: String] { members.compactMapValues { OptionValue(original: $0)?.text } }

  /// The members for `setOptions`; a dictionary for `device_info` becomes the JSON that the text form has.
  var options: [String: OptionValue] {
    var options = members.compactMapValues { OptionValue(original: $0) }
    if let device = members[EnablerOptions.deviceInfoKey] as? [AnyHashable: Any] {
      let members = OriginalDictionary(device).options.sorted { $0.key < $1.key }
      options[EnablerOptions.deviceInfoKey] = .text(
        JSONObject(members.map { JSONObject.Member($0.key, $0.value.json) }).description)
    }
    return options
  }

  /// `TV_PROVIDERS` and `FEATURED_TV_PROVIDERS`.
  var filter: ProviderFilter {
    ProviderFilter(
      providers: members[ProviderFilter.providersKey] as? [String],
      featured: members[ProviderFilter.featuredKey] as? [String] ?? [])
  }

  /// The arguments of `getMetadata` with the operation's name in place of its number.
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
  /// Reads a value of an untyped dictionary; `nil` for what is no text, number or truth value.
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
