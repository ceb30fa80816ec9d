internal import RegentEncodings
public import RegentHTTPCodec

/// Why a part of a request could not be decoded.
///
/// It is a mistake of the client, which gets the response status ``status``.
public enum RequestTextError: Error, Sendable, Hashable, CustomStringConvertible {
  case repeatedHeader(HeaderName)
  case headerNotText(HeaderName)
  case query(FormError)
  case form(FormError)
  case notAForm

  /// The HTTP status of the response to such a request.
  public var status: Status {
    switch self {
    case .notAForm: .unsupportedMediaType
    case .form(.tooManyBytes): .contentTooLarge
    default: .badRequest
    }
  }

  /// A sentence about the error that is safe to show.
  public var description: String {
    switch self {
    case .repeatedHeader(let name): "the header \(name) is there more than once: send it once"
    case .headerNotText(let name):
      "the header \(name) is not UTF-8, or has more than \(CombiningMarks.longestRun) combining marks in a row"
    case .query(let fault): "\(fault)"
    case .form(let fault): "\(fault)"
    case .notAForm: "the body is not a form: send Content-Type: \(MediaType.form)"
    }
  }
}

extension Request {
  /// The parameters of the query; empty if there is no query.
  public func queryParameters(
    limits: FormParameters.Limits = .init()
  ) throws(RequestTextError) -> FormParameters {
    try withHead { (head, bytes) throws(RequestTextError) in
      guard let range = head.query else { return FormParameters() }
      do throws(FormError) {
        return try FormParameters(encoded: bytes.extracting(range.indices), limits: limits)
      } catch {
        throw .query(error)
      }
    }
  }

  /// The parameters of an `application/x-www-form-urlencoded` body.
  ///
  /// An empty body without a Content-Type is an empty form. Any other media type is refused, so that another kind of
  /// form is never mistaken for this one.
  public func form(
    limits: FormParameters.Limits = .init()
  ) throws(RequestTextError) -> FormParameters {
    guard let isForm = try saysForm() else {
      guard body.isEmpty else { throw .notAForm }
      return FormParameters()
    }
    guard isForm else { throw .notAForm }
    return try withBody { (bytes) throws(RequestTextError) in
      do throws(FormError) {
        return try FormParameters(encoded: bytes, limits: limits)
      } catch {
        throw .form(error)
      }
    }
  }

  /// Whether Content-Type says that the body is a form in UTF-8; nil without a Content-Type.
  private func saysForm() throws(RequestTextError) -> Bool? {
    try withSingleHeader(.contentType) { text in
      guard let text else { return nil }
      // Fast path for the value that nearly all clients send.
      if text.span.isPlainForm { return true }
      guard let type = MediaType(parsing: String(copying: text)), type.matches(.form) else { return false }
      return type.parameter("charset").map { ["utf-8", "utf8"].contains($0.lowercased()) } ?? true
    }
  }

  /// The cookies of all `Cookie` headers.
  public var cookies: Cookies {
    Cookies(headerValues: headers(.cookie))
  }

  /// The value of a header that may occur at most once; nil if it is absent.
  ///
  /// - Throws: `RequestTextError` if the value is not UTF-8 or has too many combining marks in a row, or if the header
  ///   occurs more than once, because two programs could then use different values.
  public func singleHeader(_ name: HeaderName) throws(RequestTextError) -> String? {
    try withSingleHeader(name) { text in
      if let text { String(copying: text) } else { nil }
    }
  }

  /// Calls `read` with the value of a header that may occur at most once, without copying it.
  public func withSingleHeader<Result>(
    _ name: HeaderName, _ read: (UTF8Span?) -> Result
  ) throws(RequestTextError) -> Result {
    try withHead { (head, bytes) throws(RequestTextError) in
      let (value, isRepeated) = head.table.single(name, in: bytes)
      guard let range = value else { return read(nil) }
      guard !isRepeated else { throw .repeatedHeader(name) }
      guard let text = try? UTF8Span(validating: bytes.extracting(range.indices)), !text.hasTooManyMarks else {
        throw .headerNotText(name)
      }
      return read(text)
    }
  }

  /// The media type of the body; nil if there is none or it is invalid.
  public var contentType: MediaType? {
    guard let text = try? singleHeader(.contentType) else { return nil }
    return MediaType(parsing: text)
  }

  /// The media types that the client accepts; nil if its `Accept` headers break the grammar.
  public var acceptedTypes: AcceptedTypes? {
    AcceptedTypes(headerValues: headers(.accept))
  }

  /// The seconds of `Prefer: wait=N`; nil without it.
  public var preferredWait: Int? {
    // Fast path: every poll calls this, and few requests have the header.
    hasHeader(.prefer) ? Preferences.wait(headerValues: headers(.prefer)) : nil
  }

  /// Whether the client sent `Prefer: return=representation`.
  public var wantsRepresentation: Bool {
    hasHeader(.prefer) && Preferences.wantsRepresentation(headerValues: headers(.prefer))
  }

  /// The headers in which proxies report the client's address, scheme and host.
  public var forwardedHeaders: ForwardedHeaders {
    ForwardedHeaders(
      forwarded: headers(.forwarded), forwardedFor: headers(.xForwardedFor),
      forwardedProto: headers(.xForwardedProto), forwardedHost: headers(.xForwardedHost))
  }
}

extension Span<UInt8> {
  /// Whether these are exactly the bytes `application/x-www-form-urlencoded`.
  fileprivate var isPlainForm: Bool {
    let name = "application/x-www-form-urlencoded".utf8.span
    guard count == name.count else { return false }
    for place in indices where self[place] != name[place] { return false }
    return true
  }
}
