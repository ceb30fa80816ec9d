package import RegentHTTPCodec
package import HTTPServer

/// The CORS headers for protocol V1 and OAuth, which login pages of app authors and some OAuth clients call from the
/// viewer's browser.
///
/// Every origin is allowed, because these endpoints ignore cookies: a request needs credentials of its own.
package enum CrossOrigin {
  private static let headers =
    "ap_11, ap_42, ap_z, ap_19, ap_21, ap_23, authorization, content-type, pass_sfp, "
    + "AP-Session-Identifier, AP-Device-Identifier, AP-SDK-Identifier, X-Device-Info, Prefer, "
    + "AP-TempPass-Identity, AP-Visitor-Identifier, DPoP"

  /// The response to a CORS preflight request.
  package static func preflight(_ methods: [Method]) -> Response {
    var response = Response(.noContent)
    let names = (methods + [.options]).map(\.token).joined(separator: ", ")
    response.addHeader(.allow, names)
    response.addHeader(.cacheControl, "no-store")
    allow(&response)
    response.addHeader(HeaderName(literal: "Access-Control-Allow-Methods"), names)
    response.addHeader(HeaderName(literal: "Access-Control-Allow-Headers"), headers)
    response.addHeader(HeaderName(literal: "Access-Control-Max-Age"), "600")
    return response
  }

  /// Allows pages of all origins to read a response.
  package static func allow(_ response: inout Response) {
    response.addHeader(HeaderName(literal: "Access-Control-Allow-Origin"), "*")
    response.addHeader(
      HeaderName(literal: "Access-Control-Expose-Headers"),
      "pass_sfp, Authzf-Error-Code, Authzf-Sub-Error-Code, Authzf-Error-Details, Retry-After, "
        + "Preference-Applied, Date, WWW-Authenticate, Adobe-Request-Id, Adobe-Response-Confidence, "
        + "AP-Decision-Source, AP-Decision-Reason, DPoP-Nonce")
  }
}
