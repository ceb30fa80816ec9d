import Administration
import Testing

@Suite struct `Browser names` {
  @Test(arguments: [
    ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
    (
      "Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
      "Chrome on Android"
    ),
    (
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36 "
        + "Edg/126.0", "Edge on Windows"
    ),
    (
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 "
        + "Safari/605.1.15", "Safari on macOS"
    ),
    (
      "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/127.0 Mobile",
      "Firefox on iPad"
    ),
    (
      "Mozilla/5.0 (Linux; Android 14; SM) SamsungBrowser/25.0 Chrome/121 Mobile Safari/537",
      "Samsung Internet on Android"
    ),
    ("curl/8.5.0", "curl"), ("Phone", "Phone"), ("", ""), ("Something/1.0 (else)", "Something"),
    (String(repeating: "x", count: 500), String(repeating: "x", count: 20)),
  ])
  func `a User-Agent is shown as the browser's and system's common names`(userAgent: String, name: String) {
    #expect(BrowserName.text(of: userAgent) == name)
  }
}
