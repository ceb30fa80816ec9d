internal import RegentHTTPCodec
internal import HTTPServer

extension Phone {
  /// Mounts the static files, prepared once, and the style sheets of requestors' colours.
  func mountStaticFiles(_ routes: inout Routes) {
    for (path, file) in pages.files.all {
      let prepared = PreparedResponse(file.response)
      routes.get(path) { _, _ in .now(Response(prepared)) }
    }
    routes.get("/static/accent/{version}/{sheet}") { request, _ in
      let path = String(decoding: request.path, as: UTF8.self)
      guard let color = AccentColor(path: path) else {
        return .now(ServiceRoutes.refuse(request, .unknownPath))
      }
      return .now(color.styleSheet.response)
    }
  }
}

extension StaticFiles.File {
  fileprivate var response: Response {
    var response = Response(.ok, body: bytes)
    for (name, value) in headers {
      if let name = HeaderName(name) { response.addHeader(name, value) }
    }
    return response
  }
}
