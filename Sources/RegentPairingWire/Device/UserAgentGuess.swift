/// Derives the platform from a User-Agent that names it explicitly.
enum UserAgentGuess {
  /// The device information from the first rule that matches the User-Agent.
  ///
  /// Specific rules stand before general ones.
  static func values(for userAgent: String) -> [(DeviceInformation.Key, String)] {
    let folded = userAgent.lowercased()
    guard let rule = rules.first(where: { rule in rule.words.allSatisfy(folded.contains) }) else {
      return [(.primaryHardwareType, "Unknown")]
    }
    var values: [(DeviceInformation.Key, String)] = [
      (.primaryHardwareType, rule.type), (.osName, rule.system), (.osFamily, rule.family),
    ]
    if let vendor = rule.vendor { values.append((.vendor, vendor)) }
    if let model = rule.model { values.append((.model, model)) }
    return values
  }

  private struct Rule {
    let words: [String]
    let type: String
    let system: String
    let family: String
    let vendor: String?
    let model: String?

    init(
      _ words: [String], _ type: String, _ system: String, _ family: String? = nil,
      vendor: String? = nil, model: String? = nil
    ) {
      self.words = words
      self.type = type
      self.system = system
      self.family = family ?? system
      self.vendor = vendor
      self.model = model
    }
  }

  private static let rules = [
    Rule(["appletv"], "SetTopBox", "tvOS", vendor: "Apple", model: "Apple TV"),
    Rule(["apple tv"], "SetTopBox", "tvOS", vendor: "Apple", model: "Apple TV"),
    Rule(["tvos"], "SetTopBox", "tvOS", vendor: "Apple", model: "Apple TV"),
    Rule(["roku"], "SetTopBox", "Roku OS", vendor: "Roku", model: "Roku"),
    Rule(["aftm"], "SetTopBox", "Android", vendor: "Amazon", model: "Fire TV"),
    Rule(["aftb"], "SetTopBox", "Android", vendor: "Amazon", model: "Fire TV"),
    Rule(["aftt"], "SetTopBox", "Android", vendor: "Amazon", model: "Fire TV"),
    Rule(["tizen"], "TV", "Tizen", vendor: "Samsung", model: "Samsung TV"),
    Rule(["web0s"], "TV", "webOS", vendor: "LG", model: "LG TV"),
    Rule(["webos"], "TV", "webOS", vendor: "LG", model: "LG TV"),
    Rule(["playstation"], "GamesConsole", "PlayStation OS", vendor: "Sony", model: "PlayStation"),
    Rule(["xbox"], "GamesConsole", "Windows", vendor: "Microsoft", model: "Xbox"),
    Rule(["bravia"], "TV", "Android", vendor: "Sony", model: "BRAVIA"),
    Rule(["android", "tv"], "TV", "Android"),
    Rule(["ipad"], "Tablet", "iOS", vendor: "Apple", model: "iPad"),
    Rule(["iphone"], "MobilePhone", "iOS", vendor: "Apple", model: "iPhone"),
    Rule(["android", "mobile"], "MobilePhone", "Android"),
    Rule(["android"], "Tablet", "Android"),
    Rule(["kodi", "linux"], "MediaPlayer", "Linux", model: "Kodi"),
    Rule(["regent/", "linux"], "SetTopBox", "Linux"),
    Rule(["cros"], "Desktop", "Chrome OS", "Linux"),
    Rule(["windows"], "Desktop", "Windows", vendor: "Microsoft"),
    Rule(["mac os x"], "Desktop", "OS X", "macOS", vendor: "Apple"),
    Rule(["macintosh"], "Desktop", "OS X", "macOS", vendor: "Apple"),
    Rule(["openbsd"], "Desktop", "OpenBSD", "BSD"),
    Rule(["linux"], "Desktop", "Linux"),
  ]
}
