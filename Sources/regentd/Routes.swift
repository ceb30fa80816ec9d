import HTTPCodec
import HTTPServer
import JSON

/// What the service answers.
func routes() -> Routes {
  let health = PreparedResponse(healthResponse())
  var routes = Routes()
  routes.get("/healthz") { _, _ in .now(Response(health)) }
  return routes
}

/// The answer to what no route takes; nothing of a request is repeated in it.
func refused(_ request: Request, _ refusal: Refusal) -> Response {
  var response = Response.text(refusal.status, "\(refusal.status.reason)\n")
  response.addHeader(.cacheControl, "no-store")
  return response
}

private func healthResponse() -> Response {
  let body = JSONWriter.bytes { json in
    json.object { json in
      json.member("status", "ok")
      json.member("version", regentVersion)
    }
  }
  var response = Response(.ok, type: "application/json", body: body + [UInt8(ascii: "\n")])
  response.addHeader(.cacheControl, "no-store")
  return response
}
