/// Guesses the common names of a browser and its system from the User-Agent header, such as "Safari on iPhone" or
/// "Firefox on Linux".
///
/// Lists show it. The User-Agent itself is untrusted text and stays in the document.
public enum BrowserName {
  /// Returns the names of the browser and its system.
  ///
  /// Unknown parts are left out. If both are unknown, the first word of the User-Agent is returned.
  public static func text(of userAgent: String) -> String {
    let browser = browsers.first { userAgent.contains($0.word) }?.name
    let system = systems.first { userAgent.contains($0.word) }?.name
    switch (browser, system) {
    case (let browser?, let system?): return "\(browser) on \(system)"
    case (let name?, nil), (nil, let name?): return name
    case (nil, nil): return String(userAgent.prefix { $0 != " " && $0 != "/" }.prefix(20))
    }
  }

  // Newer browsers also name older ones in their User-Agent. The words of newer browsers therefore come first.
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
