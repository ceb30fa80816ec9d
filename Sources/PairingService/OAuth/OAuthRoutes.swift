package import HTTPServer

/// OAuth 2.0's device grant and its family (RFC 8628, 6749, 7009, 7662, 8414, 9449): registration codes, sign-ins and
/// what may be watched, in the words that every other client speaks.
package struct OAuthRoutes: Sendable {
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  package func mount(_ routes: inout Routes) {
    DiscoveryRoutes(core).mount(&routes)
    DeviceAuthorization(core).mount(&routes)
    TokenEndpoint(core).mount(&routes)
    UserinfoEndpoint(core).mount(&routes)
    IntrospectionEndpoint(core).mount(&routes)
    RegistrationEndpoint(core).mount(&routes)
  }
}
