import RegentCryptography
internal import RegentEncodings
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPairingWire
import RegentPlatform

/// The device information and options that are sent with requests for access tokens, as with all other requests.
struct RegistrationExtras: Sendable {
  /// The value of the header with device information.
  var device: String
  var options: EnablerOptions
}

/// Registers this installation with a software statement, and renews its access tokens.
///
/// Only one exchange with a service runs at a time; other calls that need a token wait for its result. Two
/// registrations at the same time would create two clients, and the viewers of one of them would have to sign in again.
actor Registrar {
  private let statement: Secret
  private let redirectURL: String?
  private let store: TokenStore
  private let client: Client
  private var tokens: [String: AccessToken] = [:]
  private var running: [String: Task<Result<AccessToken, ServiceFailure>, Never>] = [:]

  /// An access token, and the boot time in nanoseconds from which it is renewed.
  struct AccessToken: Sendable {
    var text: String
    var renewal: UInt64
  }

  // `redirectURL` is where the browser on this device returns to; nil for boxes without a browser.
  init(
    _ statement: Secret, redirectURL: String?, _ store: TokenStore, _ client: Client
  ) {
    self.statement = statement
    self.redirectURL = redirectURL
    self.store = store
    self.client = client
  }

  /// An access token for a service.
  ///
  /// - Parameters:
  ///   - service: the URL of the service.
  ///   - refused: a token that the service did not accept, which this function does not return again.
  ///   - uptime: the boot-time clock, in nanoseconds.
  ///   - deadline: the time limit for each request.
  ///   - extras: device information and options for the requests.
  /// - Returns: the token, or why there is none.
  func token(
    for service: String, refused: String?, uptime: UInt64, deadline: Duration, _ extras: RegistrationExtras
  ) async -> Result<String, ServiceFailure> {
    if let known = tokens[service], known.text != refused, uptime < known.renewal {
      return .success(known.text)
    }
    if let running = running[service] { return await running.value.map(\.text) }
    let task = Task { [statement, redirectURL, store, client] in
      let exchange = TokenExchange(
        service: service, statement: statement, redirectURL: redirectURL, store: store,
        client: client, deadline: deadline, extras: extras)
      return await exchange.run(at: uptime)
    }
    running[service] = task
    let result = await task.value
    running[service] = nil
    if case .success(let token) = result { tokens[service] = token }
    return result.map(\.text)
  }

  /// Deletes the stored client, which the service no longer knows.
  func forgetClient(of service: String) async {
    tokens[service] = nil
    await store.saveOffPool([.client(TokenExchange.key(service, statement), nil)])
  }
}

/// The exchange of a software statement for an access token.
private struct TokenExchange: Sendable {
  let service: String
  let statement: Secret
  let redirectURL: String?
  let store: TokenStore
  let client: Client
  let deadline: Duration
  let extras: RegistrationExtras

  /// The longest time for which an access token is used, in seconds (one year), whatever the service says.
  private static let longestLife = 31_536_000

  /// The key under which a registered client is stored.
  ///
  /// There is one client for each service and statement.
  static func key(_ service: String, _ statement: Secret) -> String {
    let mark = statement.withBytes { SHA256.hash($0) }
    return "\(service) \(Hex.encode(Array(mark.prefix(16))))"
  }

  func run(at uptime: UInt64) async -> Result<Registrar.AccessToken, ServiceFailure> {
    do throws(ServiceFailure) {
      let key = Self.key(service, statement)
      if let known = store.client(key) {
        do throws(ServiceFailure) {
          return .success(try await accessToken(known, uptime))
        } catch {
          guard error.details == ClientErrorDocument.Reason.invalidClient.rawValue else {
            throw error
          }
        }
      }
      // There is no stored client, or the service no longer knows it, so register a new one.
      let new = try await register()
      await store.saveOffPool([.client(key, new)])
      return .success(try await accessToken(new, uptime))
    } catch {
      return .failure(error)
    }
  }

  /// Registers a client.
  ///
  /// A box without a browser sends no redirect URL. If the service requires one, the box sends the redirect URL of the
  /// original SDK.
  private func register() async throws(ServiceFailure) -> RegisteredClient {
    if let redirectURL { return try await register(redirectURL: redirectURL) }
    do throws(ServiceFailure) {
      return try await register(redirectURL: nil)
    } catch {
      let reasons: [ClientErrorDocument.Reason] = [.invalidRequest, .invalidRedirectURI]
      guard reasons.contains(where: { $0.rawValue == error.details }) else { throw error }
      return try await register(redirectURL: defaultRedirectURL)
    }
  }

  private func register(
    redirectURL: String?
  ) async throws(ServiceFailure) -> RegisteredClient {
    let statement = String(decoding: statement.exposedBytes(), as: UTF8.self)
    var body: JSONObject = ["software_statement": .string(statement)]
    body["redirect_uri"] = redirectURL.map(JSONValue.string)
    let response = try await post(
      Paths.registerClient, body.bytes(), type: "application/json;charset=utf-8")
    guard response.status.isSuccess else { throw refusal(response, .registration) }
    guard let document = try? ClientDocument(json: response.body) else {
      throw ServiceFailure(kind: .unreadable, message: "the answer to the registration")
    }
    return RegisteredClient(id: document.id, secret: document.secret)
  }

  private func accessToken(
    _ known: RegisteredClient, _ uptime: UInt64
  ) async throws(ServiceFailure) -> Registrar.AccessToken {
    let form = PercentEncoding.form([
      ("client_id", known.id), ("client_secret", known.secret),
      ("grant_type", "client_credentials"),
    ])
    let response = try await post(
      Paths.clientToken, Array(form.utf8), type: "application/x-www-form-urlencoded")
    guard response.status.isSuccess else { throw refusal(response, .accessToken) }
    guard let document = try? AccessTokenDocument(json: response.body) else {
      throw ServiceFailure(kind: .unreadable, message: "the answer with the access token")
    }
    // The token is renewed in the last tenth of its life, so that it does not expire during a request.
    let life = Duration.seconds(min(document.lifetime, Self.longestLife))
    return Registrar.AccessToken(
      text: document.token, renewal: uptime &+ (life / 10 * 9).wholeNanoseconds)
  }

  private func post(
    _ path: String, _ body: [UInt8], type: String
  ) async throws(ServiceFailure) -> ClientResponse {
    do throws(ClientError) {
      var call = WireCall(method: .post, path: path)
      call.add(extras.options)
      let query = call.query.isEmpty ? "" : "?" + PercentEncoding.form(call.query)
      var request = ClientRequest(.post, try ClientURL(service + path + query), body: body)
      for header in call.headers { request.addHeader(header.name, header.value) }
      request.addHeader(.contentType, type)
      request.addHeader(.accept, "application/json")
      request.addHeader(HeaderName(literal: "X-Device-Info"), extras.device)
      request.deadline = deadline
      return try await client.send(request)
    } catch {
      throw AnswerReader.failure(error)
    }
  }

  /// The failure for an error response: final if the service gives a reason or answers 401 or 403, otherwise temporary.
  private func refusal(
    _ response: ClientResponse, _ kind: ServiceFailure.Kind
  ) -> ServiceFailure {
    let status = Int(response.status.rawValue)
    let limits = JSONLimits(depth: 4, bytes: 65_536)
    let object = (try? JSONValue(reading: response.body, limits: limits))?.object
    let reason = object?["error"]?.string
    guard reason != nil || status == 401 || status == 403 else {
      return AnswerReader().failure(response)
    }
    return ServiceFailure(kind: kind, message: reason ?? "refused (\(status))", details: reason)
  }
}
