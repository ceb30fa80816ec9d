/// What people call a browser and what it runs on, from its User-Agent: "Safari on iPhone", "Firefox on Linux".
///
/// A guess for lists; the text itself is in the document, and anything may stand there.
public enum BrowserName {
  /// The name; what is not known is left out, and the beginning of the text stands for a browser that nobody knows.
  public static func text(of userAgent: String) -> String {
    let browser = browsers.first { userAgent.contains($0.word) }?.name
    let system = systems.first { userAgent.contains($0.word) }?.name
    switch (browser, system) {
    case (let browser?, let system?): return "\(browser) on \(system)"
    case (let name?, nil), (nil, let name?): return name
    case (nil, nil): return String(userAgent.prefix { $0 != " " && $0 != "/" }.prefix(20))
    }
  }

  // Later browsers call themselves all earlier ones, too: the most particular word comes first.
  private static let browsers: [(word: String, name: String)] = [
    ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("Edg/", "Edge"), ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"), ("DuckDuckGo/", "DuckDuckGo"), ("Vivaldi/", "Vivaldi"),
    ("FxiOS/", "Firefox"), ("Firefox/", "Firefox"), ("CriOS/", "Chrome"), ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
  ]
  private static let systems: [(word: String, name: String)] = [
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
    ("CrOS", "ChromeOS"), ("Mac OS X", "macOS"), ("Linux", "Linux"),
  ]
}
