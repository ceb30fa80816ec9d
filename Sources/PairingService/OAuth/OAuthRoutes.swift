package import HTTPServer

/// OAuth 2.0's device grant and related endpoints (RFC 8628, 6749, 7009, 7662, 8414, 9449): the same registration
/// codes, sign-ins and entitlements as protocol V1, for standard OAuth clients.
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
