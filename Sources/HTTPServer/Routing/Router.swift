public import RegentHTTPCodec

/// Responds to a request that matched a route.
///
/// It runs on an event loop and must not block it.
public typealias RouteHandler = @Sendable (Request, PathParameters) -> Answer

/// The routes of a program, collected before it starts; each part of the program adds its own.
public struct Routes {
  struct Route {
    let method: Method
    let pattern: String
    let handler: RouteHandler
  }

  private(set) var all: [Route] = []
  private var prefix = ""

  public init() {}

  /// The routes in the order in which they were added, for lists and checks.
  public var mounted: [(method: Method, pattern: String)] { all.map { ($0.method, $0.pattern) } }

  /// Adds a route for GET, which also serves HEAD.
  public mutating func get(_ pattern: String, _ handler: @escaping RouteHandler) {
    on(.get, pattern, handler)
  }

  public mutating func post(_ pattern: String, _ handler: @escaping RouteHandler) {
    on(.post, pattern, handler)
  }

  public mutating func put(_ pattern: String, _ handler: @escaping RouteHandler) {
    on(.put, pattern, handler)
  }

  public mutating func delete(_ pattern: String, _ handler: @escaping RouteHandler) {
    on(.delete, pattern, handler)
  }

  /// Adds a route.
  ///
  /// In the pattern, `/word` is a literal, `/(Word)` a literal in any case, `/{name}` captures one segment,
  /// `/{name...}` at the end captures the rest, and `[.json|.xml]` at the end allows these suffixes.
  public mutating func on(
    _ method: Method, _ pattern: String, _ handler: @escaping RouteHandler
  ) {
    all.append(Route(method: method, pattern: prefix + pattern, handler: handler))
  }

  /// Adds the routes that `mount` adds, with `prefix` before each pattern.
  public mutating func below(_ prefix: String, _ mount: (inout Routes) -> Void) {
    let outer = self.prefix
    self.prefix += prefix
    mount(&self)
    self.prefix = outer
  }
}

/// Why no route handles a request.
public enum Refusal: Sendable, Hashable {
  /// The path has a dot segment, an escaped slash, a backslash, a control character or an empty segment.
  case unacceptablePath
  case undecodableSegment
  case unknownPath
  /// The path has routes, but only for other methods.
  case wrongMethod(allowed: [Method])

  /// The HTTP status of the response to such a request.
  public var status: Status {
    switch self {
    case .unacceptablePath, .undecodableSegment: .badRequest
    case .unknownPath: .notFound
    case .wrongMethod: .methodNotAllowed
    }
  }
}

/// Finds the route of a request by its method and path, and passes the decoded captures to its handler.
///
/// GET routes also serve HEAD. The router itself answers OPTIONS with `Allow` if no route does.
///
/// It is a class, because a struct with three members would be copied for each handler around it.
public final class Router: Handler {
  private struct Endpoint: Sendable {
    var suffix: String?
    /// The routes of the endpoint.
    ///
    /// A list is faster than a dictionary for the few methods of an endpoint.
    var routes: [(method: Method, captureNames: [String], handler: RouteHandler)] = []

    var allowed: [Method] {
      var methods = routes.map(\.method)
      if methods.contains(.get), !methods.contains(.head) { methods.append(.head) }
      if !methods.contains(.options) { methods.append(.options) }
      return methods
    }

    func position(of method: Method) -> Int? {
      routes.firstIndex { $0.method == method }
        ?? (method == .head ? routes.firstIndex { $0.method == .get } : nil)
    }
  }

  private let tree: RouteTree
  private let endpoints: [Endpoint]
  private let refuse: @Sendable (Request, Refusal) -> Response

  /// Builds the route tree.
  ///
  /// - Parameters:
  ///   - routes: All routes of the program.
  ///   - refuse: Makes the response to a request that no route handles; the router adds `Allow` where it belongs.
  /// - Throws: `RouteError` for an invalid pattern and for two routes that match the same requests.
  public init(
    _ routes: Routes, refuse: (@Sendable (Request, Refusal) -> Response)? = nil
  ) throws(RouteError) {
    var tree = RouteTree()
    var endpoints: [Endpoint] = []
    for route in routes.all {
      let pattern = try RoutePattern(route.pattern)
      for (suffix, number) in tree.add(pattern) {
        if number == endpoints.count { endpoints.append(Endpoint(suffix: suffix)) }
        guard !endpoints[number].routes.contains(where: { $0.method == route.method }) else {
          throw .registeredTwice(method: route.method.token, pattern: route.pattern)
        }
        endpoints[number].routes.append((route.method, pattern.captureNames, route.handler))
      }
    }
    self.tree = tree
    self.endpoints = endpoints
    self.refuse = refuse ?? { _, refusal in .text(refusal.status, "\(refusal.status.reason)\n") }
  }

  public func handle(_ request: Request) -> Answer {
    let outcome = request.withHead { head, bytes in
      find(head.method, bytes.extracting(head.path.indices))
    }
    switch outcome {
    case .found(let endpoint, let position, let parameters):
      return endpoints[endpoint].routes[position].handler(request, parameters)
    case .refused(.wrongMethod(let allowed)) where request.method == .options:
      return .now(Self.allowing(allowed, Response(.noContent)))
    case .refused(let refusal):
      let response = refuse(request, refusal)
      guard case .wrongMethod(let allowed) = refusal else { return .now(response) }
      return .now(Self.allowing(allowed, response))
    }
  }

  private enum Outcome {
    case found(endpoint: Int, position: Int, PathParameters)
    case refused(Refusal)
  }

  private func find(_ method: Method, _ path: Span<UInt8>) -> Outcome {
    // `OPTIONS *` asks about the server as a whole.
    if path.count == 1, path[0] == 0x2A {
      let known = Set(endpoints.flatMap(\.allowed))
      return .refused(.wrongMethod(allowed: Method.allCases.filter(known.contains)))
    }
    // A URL without a path means the root path.
    if path.isEmpty { return find(method, Self.root.span) }
    guard PathShape.isAcceptable(path) else { return .refused(.unacceptablePath) }
    var found: (match: RouteMatch, position: Int)?
    var allowed: [Method] = []
    _ = tree.match(path) { match in
      let endpoint = endpoints[match.endpoint]
      if let position = endpoint.position(of: method) {
        found = (match, position)
        return true
      }
      allowed += endpoint.allowed
      return false
    }
    if let (match, position) = found {
      guard let values = Self.decoded(match, path) else { return .refused(.undecodableSegment) }
      let endpoint = endpoints[match.endpoint]
      let names = endpoint.routes[position].captureNames
      return .found(
        endpoint: match.endpoint, position: position,
        PathParameters(names: names, values: values, suffix: endpoint.suffix))
    }
    if allowed.isEmpty { return .refused(.unknownPath) }
    return .refused(.wrongMethod(allowed: Method.allCases.filter(allowed.contains)))
  }

  private static func decoded(_ match: RouteMatch, _ path: Span<UInt8>) -> [String]? {
    var values: [String] = []
    for index in 0..<match.captureCount {
      guard let value = try? PercentDecoding.text(path.extracting(match.range(index))) else {
        return nil
      }
      values.append(value)
    }
    return values
  }

  private static let root: [UInt8] = [0x2F]

  private static func allowing(_ methods: [Method], _ response: Response) -> Response {
    var response = response
    response.addHeader(.allow, methods.map(\.token).joined(separator: ", "))
    return response
  }
}
