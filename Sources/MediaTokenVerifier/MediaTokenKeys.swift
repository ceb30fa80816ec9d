import RegentCryptography
public import RegentHTTPClient
import RegentHTTPCodec
import RegentPlatform

/// Where the service's public keys come from.
@nonexhaustive
public enum MediaTokenKeys: Hashable, Sendable {
  /// A JWK set, as the service publishes it.
  case text(String)
  /// A file with a JWK set; it is read again now and then.
  case file(String)
  /// Where the service publishes its JWK set: `https://pair.example/oauth/jwks.json`.
  case url(String, authorities: CertificateAuthorities = .system)
}

/// Why there are no keys.
@nonexhaustive
public enum MediaTokenKeyError: Error, Hashable, Sendable {
  /// The file cannot be read.
  case unreadable(String)
  /// The service does not answer as it should.
  case unreachable(String)
  /// What was found is no JWK set, or one without a key that signs media tokens.
  case unusable(String)
}

extension MediaTokenKeyError: CustomStringConvertible {
  /// What is wrong.
  public var description: String {
    switch self {
    case .unreadable(let why): "the keys cannot be read: \(why)"
    case .unreachable(let why): "the keys cannot be fetched: \(why)"
    case .unusable(let why): "there is no key to check media tokens with: \(why)"
    }
  }
}

/// Keys and how long they may be used without asking again.
struct FetchedKeys: Sendable {
  /// Whatever a service says: not more often than once a minute, and at least once a day.
  static let ages = Duration.seconds(60)...Duration.seconds(86_400)
  /// What holds when nothing is said.
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
  /// Gets the keys now.
  func fetch(_ client: Client) async throws(MediaTokenKeyError) -> FetchedKeys {
    switch self {
    case .text(let text):
      return try FetchedKeys(Array(text.utf8), age: FetchedKeys.ages.upperBound)
    case .file(let path): return try Self.read(path)
    case .url(let url, _): return try await Self.get(url, client)
    }
  }

  /// The keys that are there without waiting for anybody: those of a text or a file.
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

  /// The `max-age` of a `Cache-Control` header.
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
