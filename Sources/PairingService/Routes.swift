package import HTTPServer
package import RegentHTTPCodec
internal import RegentPairingWire

/// Collects the routes of the whole service.
package enum ServiceRoutes {
  /// The routes of protocol V1 and OAuth for devices, in the order in which a box uses them.
  package static func devices(_ core: ServiceCore) -> Routes {
    var routes = Routes()
    HealthRoutes(core).mount(&routes)
    ConfigurationRoutes(core).mount(&routes)
    CodeRoutes(core).mount(&routes)
    AuthenticationRoutes(core).mount(&routes)
    PlatformRoutes(core).mount(&routes)
    ClientRoutes(core).mount(&routes)
    EnrolmentRoutes(core).mount(&routes)
    OAuthRoutes(core).mount(&routes)
    TemporaryPassRoutes(core).mount(&routes)
    PreauthorizationRoutes(core).mount(&routes)
    AuthorizationRoutes(core).mount(&routes)
    MediaTokenRoutes(core).mount(&routes)
    MetadataRoutes(core).mount(&routes)
    return routes
  }

  /// The routes of the protocols for devices and those of the pages for phones.
  package static func all(_ core: ServiceCore, _ phone: Phone) -> Routes {
    var routes = devices(core)
    phone.mount(&routes)
    return routes
  }

  /// The response to a request that matches no route.
  ///
  /// It repeats nothing of the request, so that it cannot be used for injection.
  package static func refuse(_ request: Request, _ refusal: Refusal) -> Response {
    if let answer = answer(refusal.status, to: request) { return answer }
    var response = Response.text(refusal.status, "\(refusal.status.reason)\n")
    response.addHeader(.cacheControl, "no-store")
    return response
  }

  /// The 503 of a node that cannot decide anything now.
  ///
  /// A path for programs gets JSON or XML, a path for browsers gets `page`.
  static func unavailable(_ request: Request, page: (Request) -> Response) -> Response {
    guard var response = answer(.serviceUnavailable, to: request) else { return page(request) }
    response.addRetryAfter(ClockGuardPause.span)
    if request.isCrossOrigin, !isOAuth(request.path) { CrossOrigin.allow(&response) }
    return response
  }

  /// The response with this status for a path that programs request; nil for paths that only browsers open.
  private static func answer(_ status: Status, to request: Request) -> Response? {
    let path = String(decoding: request.path.prefix(16), as: UTF8.self)
    if path.hasPrefix("/oauth/") { return OAuthFrame.refusal(status, to: request) }
    guard ["/api/", "/reggie/", "/o/"].contains(where: path.hasPrefix) else { return nil }
    let (_, suffix) = WireFormat.split(path: String(decoding: request.path, as: UTF8.self))
    let parameter = try? (try? request.queryParameters())?.single(Field.format)
    let format = request.wireFormat(
      suffix: suffix.map { ".\($0.rawValue)" }, parameter: parameter ?? nil)
    let document = ErrorDocument(status: Int(status.rawValue))
    var response = V1Reply(status, document, format).response
    response.addHeader(.cacheControl, "no-store")
    return response
  }

  /// The 503 that the service sends while it is starting.
  package static func starting(_ request: Request) -> Response {
    let isOAuth = isOAuth(request.path)
    var response =
      isOAuth
      ? OAuthFrame.refusal(.serviceUnavailable, to: request)
      : Response.text(.serviceUnavailable, "The service is starting.\n")
    response.addHeader(.retryAfter, "1")
    if !isOAuth { response.addHeader(.cacheControl, "no-store") }
    return response
  }

  /// The response for a request that the HTTP engine itself refuses after reading its path; nil where the engine's
  /// plain text suffices.
  package static func engineRefusal(_ status: Status, _ path: [UInt8]) -> Response? {
    guard isOAuth(path) else { return nil }
    var response = OAuthFrame.refusal(status)
    // The CORS header is always sent, because the engine has not read the request's `Origin` header.
    CrossOrigin.allow(&response)
    if status == .serviceUnavailable { response.addHeader(.retryAfter, "5") }
    return response
  }

  /// Whether a path, as the client sent it, is an OAuth path, with or without the path prefix of the public address.
  private static func isOAuth(_ path: [UInt8]) -> Bool {
    String(decoding: path, as: UTF8.self).contains("/oauth/")
  }
}
