import RegentCryptography
public import RegentHTTPClient
import RegentHTTPCodec
import RegentPlatform

/// The source of the service's public keys.
@nonexhaustive
public enum MediaTokenKeys: Hashable, Sendable {
  /// A JWK set (a list of public keys) as text, as the service publishes it. It is never fetched again.
  case text(String)
  /// The path of a file with a JWK set.
  ///
  /// The first check that comes more than a minute after the last read reads the file again.
  case file(String)
  /// The URL of the JWK set that the service publishes, such as `https://pair.example/oauth/jwks.json`.
  case url(String, authorities: CertificateAuthorities = .system, proxy: ProxyChoice = .environment)
}

/// The reason why the verifier has no keys.
@nonexhaustive
public enum MediaTokenKeyError: Error, Hashable, Sendable {
  /// The file with the key set cannot be read.
  case unreadable(String)
  /// The service cannot be reached, or does not answer with status 200.
  case unreachable(String)
  /// The document is not a JWK set, or has no RSA key.
  case unusable(String)
}

extension MediaTokenKeyError: CustomStringConvertible {
  /// A sentence that says why the verifier has no keys.
  public var description: String {
    switch self {
    case .unreadable(let why): "the keys cannot be read: \(why)"
    case .unreachable(let why): "the keys cannot be fetched: \(why)"
    case .unusable(let why): "there is no key to check media tokens with: \(why)"
    }
  }
}

/// A key set, and how long the verifier uses it before it fetches the keys again.
struct FetchedKeys: Sendable {
  /// The shortest and the longest time for which keys are used.
  ///
  /// A service's `max-age` outside of it is clamped.
  static let ages = Duration.seconds(60)...Duration.seconds(86_400)
  /// How long keys are used when the response has no `max-age`.
  static let usualAge = Duration.seconds(300)

  var keys: JWKSet
  var age: Duration

  init(_ document: [UInt8], age: Duration) throws(MediaTokenKeyError) {
    do throws(KeyError) {
      keys = try JWKSet(reading: document)
    } catch {
      throw .unusable(error.description)
    }
    guard !keys.keys(nil, .rs256).isEmpty else { throw .unusable("no RSA key in the set") }
    self.age = min(max(age, Self.ages.lowerBound), Self.ages.upperBound)
  }
}

extension MediaTokenKeys {
  func fetch(_ client: Client) async throws(MediaTokenKeyError) -> FetchedKeys {
    switch self {
    case .text(let text):
      return try FetchedKeys(Array(text.utf8), age: FetchedKeys.ages.upperBound)
    case .file(let path): return try Self.read(path)
    case .url(let url, _, _): return try await Self.get(url, client)
    }
  }

  /// Returns the keys of a text or a file, or `nil` for a URL, because a URL needs the network.
  func fetchAtOnce() throws(MediaTokenKeyError) -> FetchedKeys? {
    switch self {
    case .text(let text):
      try FetchedKeys(Array(text.utf8), age: FetchedKeys.ages.upperBound)
    case .file(let path): try Self.read(path)
    case .url: nil
    }
  }

  private static func read(_ path: String) throws(MediaTokenKeyError) -> FetchedKeys {
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try DurableFile.read(path, limit: JWKSet.longest, widest: nil)
    } catch {
      throw .unreadable(error.description)
    }
    return try FetchedKeys(bytes, age: FetchedKeys.ages.lowerBound)
  }

  private static func get(
    _ url: String, _ client: Client
  ) async throws(MediaTokenKeyError) -> FetchedKeys {
    let response: ClientResponse
    do throws(ClientError) {
      var request = ClientRequest(.get, try ClientURL(url))
      request.deadline = .seconds(10)
      request.responseLimit = JWKSet.longest
      request.addHeader(.accept, "application/json")
      response = try await client.send(request)
    } catch {
      throw .unreachable(error.description)
    }
    guard response.status == .ok else {
      throw .unreachable("\(url.prefix(200)) answers with status \(response.status.rawValue)")
    }
    let age = response.headers(.cacheControl).compactMap(maximumAge).min()
    return try FetchedKeys(response.body, age: age ?? FetchedKeys.usualAge)
  }

  /// Returns the `max-age` of a `Cache-Control` header in seconds, or zero for `no-store` and `no-cache`.
  static func maximumAge(_ header: String) -> Duration? {
    for directive in header.split(separator: ",") {
      let words = directive.split(separator: "=", maxSplits: 1)
      let name = words.first?.filter { $0 != " " }.lowercased()
      if name == "no-store" || name == "no-cache" { return .zero }
      guard name == "max-age", words.count == 2 else { continue }
      let digits = words[1].filter { $0 != " " && $0 != "\"" }
      guard let seconds = Int64(digits), seconds >= 0 else { return nil }
      return .seconds(min(seconds, 86_400))
    }
    return nil
  }
}
