import CRegentCurl
import Glibc
import RegentHTTPCodec
import RegentPlatform

/// One call in libcurl: its options, and the response as it arrives.
@safe final class TLSTransfer {
  let call: Call
  /// The request that is sent: the call's request, or the request for the server's time.
  let request: ClientRequest
  /// Why the certificate was refused in an earlier transfer; set only if this transfer asks for the server's time.
  let doubt: ClientError.TLSFault?
  /// The server's time, and whether its certificate is valid at that time; set only if this transfer asks for the
  /// server's time.
  private(set) var serverClock: (date: Int64, isValid: Bool)?
  let addresses: [SocketAddress]
  let easy: UnsafeMutableRawPointer
  /// The socket on which libcurl waits for this transfer.
  var socket: CInt?
  /// The time on the boot-time clock at which the client checks whether a kept connection still works.
  var secondTry = UInt64.max
  /// The reason why a callback stopped the transfer; libcurl reports only that it was stopped.
  private(set) var failure: ClientError.Kind?
  private let library: CurlLibrary
  private let checkTime: Int64
  private let serverTime: ServerTimeBox
  private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []
  private var headBytes: [UInt8] = []
  private var head = ResponseHead()
  private var headers: [ClientHeader] = []
  private var hasHead = false
  private var interimCount = 0
  private var body: [UInt8] = []

  private static let headLimits = HeadLimits(line: 8_192, fields: 32_768, count: 128)

  init(
    _ call: Call, _ addresses: [SocketAddress], _ easy: UnsafeMutableRawPointer, _ library: CurlLibrary,
    checkTime: Int64, _ serverTime: ServerTimeBox, doubt: ClientError.TLSFault? = nil
  ) {
    self.call = call
    self.addresses = addresses
    self.doubt = doubt
    request = doubt == nil ? call.request : .serverTime(of: call.request.url)
    unsafe self.easy = unsafe easy
    unsafe self.library = unsafe library
    self.checkTime = checkTime
    self.serverTime = serverTime
  }

  deinit {
    unsafe library.freeEasy(easy)
    unsafe lists.forEach { unsafe library.freeList($0) }
  }

  /// Sets the options of the transfer.
  ///
  /// - Returns: false if libcurl refused an option on which security depends.
  func prepare(_ configuration: ClientConfiguration) -> Bool {
    let addresses = addresses.compactMap(\.numericHost)
    var codes = [
      set(CURLOPT_URL, "\(request.url.origin)\(request.url.target)"),
      set(CURLOPT_PROTOCOLS, regent_protocol_https()),
      set(CURLOPT_SSL_VERIFYPEER, doubt == nil ? 1 : 0), set(CURLOPT_SSL_VERIFYHOST, doubt == nil ? 2 : 0),
      set(CURLOPT_SSLVERSION, regent_tls_version()),
      set(CURLOPT_FOLLOWLOCATION, 0), set(CURLOPT_HTTP_VERSION, regent_http_version()),
      // An empty list, because the client itself has applied no_proxy.
      set(CURLOPT_PROXY, call.proxy?.description ?? ""), set(CURLOPT_NOPROXY, ""),
      set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1), set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)),
      set(CURLOPT_NOSIGNAL, 1), set(CURLOPT_HTTP09_ALLOWED, 0),
      set(CURLOPT_PATH_AS_IS, 1), set(CURLOPT_BUFFERSIZE, 16_384),
      // libcurl 8.14 does not verify the certificate again when it resumes a TLS session, so it would accept one that
      // has expired since.
      set(CURLOPT_SSL_SESSIONID_CACHE, 0),
      // libcurl divides this time among the addresses of a host, so the first one cannot use up the whole deadline.
      set(CURLOPT_CONNECTTIMEOUT_MS, connectMilliseconds(configuration.connectLimit)),
      // libcurl's clock stops while the machine is suspended; ClientLoop handles that.
      set(CURLOPT_MAXAGE_CONN, Int(configuration.keepAlive.components.seconds)),
      set(CURLOPT_CUSTOMREQUEST, request.method.token),
    ]
    codes += trust(configuration.authorities)
    // libcurl repeats a request with any method if a kept connection turns out to be closed. Requests that must not be
    // repeated therefore use a new connection.
    if !request.isIdempotent || call.needsNewConnection || doubt != nil {
      codes.append(set(CURLOPT_FRESH_CONNECT, 1))
    }
    if doubt != nil {
      codes += [set(CURLOPT_FORBID_REUSE, 1), set(CURLOPT_TIMEOUT_MS, ClientRequest.serverTimeMilliseconds)]
    }
    if request.method == .head { codes.append(set(CURLOPT_NOBODY, 1)) }
    if request.announcedLength != nil {
      codes.append(
        unsafe regent_set_large(
          library.setOption, easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)))
      codes.append(
        unsafe request.body.withUnsafeBytes {
          unsafe regent_set_pointer(
            library.setOption, easy, CURLOPT_COPYPOSTFIELDS,
            $0.baseAddress ?? UnsafeRawPointer(easy))
        })
      codes.append(set(CURLOPT_CUSTOMREQUEST, request.method.token))
    }
    codes.append(set(CURLOPT_HTTPHEADER, headerLines(request)))
    // A host that is an IP address needs no lookup, and an IPv6 address does not fit the syntax of this option.
    if !addresses.isEmpty, addresses.first != call.place.host, !call.place.host.contains(":") {
      let place = "+\(call.place.host):\(call.place.port):"
      codes.append(set(CURLOPT_RESOLVE, [place + addresses.joined(separator: ",")]))
    }
    codes += connectCallbacks()
    return codes.allSatisfy { $0 == CURLE_OK }
  }

  private func connectMilliseconds(_ limit: Duration) -> Int {
    let now = Clocks.bootNanoseconds()
    let left = call.reachEnd - min(now, call.reachEnd)
    // Zero would mean libcurl's own limit.
    return max(1, Int(min(limit.wholeNanoseconds, left) / 1_000_000))
  }

  private func trust(_ authorities: CertificateAuthorities) -> [CURLcode] {
    switch authorities {
    // No CA file is set. OpenSSL then reads only the certificate that it needs from the folder, and not all 140 (2
    // MiB).
    case .system:
      // SSL_CERT_FILE and SSL_CERT_DIR count here as for OpenSSL and most programs, so that an operator with a private
      // certificate authority sets them once for all programs.
      [
        ProcessEnvironment.value("SSL_CERT_FILE").map { set(CURLOPT_CAINFO, $0) } ?? setNull(CURLOPT_CAINFO),
        set(CURLOPT_CAPATH, ProcessEnvironment.value("SSL_CERT_DIR") ?? "/etc/ssl/certs"),
      ]
    case .folder(let path): [setNull(CURLOPT_CAINFO), set(CURLOPT_CAPATH, path)]
    case .file(let path): [set(CURLOPT_CAINFO, path), setNull(CURLOPT_CAPATH)]
    }
  }

  private func headerLines(_ request: ClientRequest) -> [String] {
    // For libcurl, a name with a colon and no value removes the header, and a name with a semicolon sends the header
    // empty.
    let removed = ["Accept:", "Expect:", "Content-Type:", "Transfer-Encoding:"].filter { line in
      !request.headers.contains { "\($0.name.text.lowercased()):" == line.lowercased() }
    }
    return removed
      + request.headers.map {
        $0.value.isEmpty ? "\($0.name.text);" : "\($0.name.text): \($0.value)"
      }
  }

  private func connectCallbacks() -> [CURLcode] {
    let context = unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    return unsafe [
      regent_set_data_callback(library.setOption, easy, CURLOPT_WRITEFUNCTION, takeBody),
      regent_set_pointer(library.setOption, easy, CURLOPT_WRITEDATA, context),
      regent_set_data_callback(library.setOption, easy, CURLOPT_HEADERFUNCTION, takeHeader),
      regent_set_pointer(library.setOption, easy, CURLOPT_HEADERDATA, context),
      regent_set_ssl_callback(library.setOption, easy, chooseCheckTime),
      regent_set_pointer(library.setOption, easy, CURLOPT_SSL_CTX_DATA, context),
      regent_set_pointer(library.setOption, easy, CURLOPT_PRIVATE, context),
    ]
  }
}

extension TLSTransfer {
  func response() throws(ClientError.Kind) -> ClientResponse {
    guard hasHead else { throw .malformed(nil) }
    return ClientResponse(
      status: head.status, headers: headers, body: body, url: call.request.url)
  }

  var phase: ClientError.Phase {
    if !headBytes.isEmpty || hasHead { return .receiving }
    var microseconds: curl_off_t = 0
    let code = unsafe regent_get_large(
      library.getInfo, easy, CURLINFO_PRETRANSFER_TIME_T, &microseconds)
    return code == CURLE_OK && microseconds > 0 ? .waiting : .connecting
  }

  /// Whether the transfer uses a kept connection.
  var isReused: Bool { info(CURLINFO_NUM_CONNECTS) == 0 }

  /// Whether the request was sent and the server's machine has not acknowledged it.
  var isUnacknowledged: Bool { headBytes.isEmpty && !hasHead && socket.map(TCPLiveness.isUnacknowledged) ?? false }

  var hasLostItsAddress: Bool { socket.map(TCPLiveness.hasLostItsAddress) ?? false }

  /// A value that libcurl reports about the transfer; 0 if it has none.
  func info(_ name: CURLINFO) -> Int {
    var value = 0
    return unsafe regent_get_long(library.getInfo, easy, name, &value) == CURLE_OK ? value : 0
  }

  /// Makes OpenSSL check the certificate at the time that was chosen for this call, and not at the time of the
  /// machine's clock.
  fileprivate func setCheckTime(_ context: UnsafeMutableRawPointer?) -> CURLcode {
    guard let parameters = unsafe library.openSSL.parameters(context) else {
      return CURLE_SSL_CONNECT_ERROR
    }
    unsafe library.openSSL.setTime(parameters, time_t(checkTime / 1_000))
    return CURLE_OK
  }

  /// Takes a header line from libcurl.
  ///
  /// Ignores trailer fields that come after the head.
  fileprivate func take(headerLine line: UnsafeRawBufferPointer) -> Bool {
    if hasHead { return line.count <= TLSTransfer.headLimits.fields }
    unsafe headBytes.append(contentsOf: line)
    do throws(MessageError) {
      guard try head.parse(headBytes.span, limits: TLSTransfer.headLimits) != nil else {
        return true
      }
    } catch {
      failure = .malformed(error)
      return false
    }
    if head.status.rawValue < 200 {
      interimCount += 1
      headBytes = []
      guard head.status.rawValue != 101, interimCount <= 16 else {
        failure = .malformed(nil)
        return false
      }
      head.reset()
      return true
    }
    hasHead = true
    headers = head.headers(in: headBytes)
    if case .length(let length) = head.framing(answering: request.method),
      length > request.responseLimit
    {
      failure = .tooLarge(limit: request.responseLimit)
      return false
    }
    if doubt == nil { noteServerTime() } else { noteServerClock() }
    return true
  }

  fileprivate func take(body piece: UnsafeRawBufferPointer) -> Bool {
    guard hasHead, piece.count <= request.responseLimit - body.count else {
      failure = hasHead ? .tooLarge(limit: request.responseLimit) : .malformed(nil)
      return false
    }
    unsafe body.append(contentsOf: piece)
    return true
  }

  /// Stores the server's time, unless it is after the end of the server's own certificate.
  ///
  /// Otherwise one trusted server could make every other certificate appear to have expired.
  private func noteServerTime() {
    guard let time = ClientResponse.serverDate(in: headers), certificateValidity(at: time)?.isBeforeEnd == true
    else { return }
    serverTime.note(time)
  }

  private func noteServerClock() {
    guard let date = ClientResponse.serverDate(in: headers), let validity = certificateValidity(at: date)
    else { return }
    serverClock = (date, validity.hasBegun && validity.isBeforeEnd)
  }

  /// Whether the server's certificate has begun to be valid, and has not ended, at a time in epoch milliseconds; nil if
  /// that is unknown.
  private func certificateValidity(at time: Int64) -> (hasBegun: Bool, isBeforeEnd: Bool)? {
    guard let ssl = unsafe regent_get_ssl(library.getInfo, easy),
      let certificate = unsafe library.openSSL.peerCertificate(ssl)
    else { return nil }
    defer { unsafe library.openSSL.freeCertificate(certificate) }
    var seconds = time_t(time / 1_000)
    guard let begin = unsafe library.openSSL.notBefore(certificate),
      let end = unsafe library.openSSL.notAfter(certificate)
    else { return nil }
    return unsafe (
      library.openSSL.compareTime(begin, &seconds) <= 0, library.openSSL.compareTime(end, &seconds) > 0
    )
  }

  private func set(_ option: CURLoption, _ value: Int) -> CURLcode {
    unsafe regent_set_long(library.setOption, easy, option, value)
  }

  private func set(_ option: CURLoption, _ value: String) -> CURLcode {
    unsafe regent_set_text(library.setOption, easy, option, value)
  }

  private func setNull(_ option: CURLoption) -> CURLcode {
    unsafe regent_set_text(library.setOption, easy, option, nil)
  }

  private func set(_ option: CURLoption, _ lines: [String]) -> CURLcode {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines {
      guard let longer = unsafe library.appendToList(list, line) else { return CURLE_OUT_OF_MEMORY }
      unsafe list = longer
    }
    guard let list = unsafe list else { return CURLE_OK }
    unsafe lists.append(list)
    return unsafe regent_set_list(library.setOption, easy, option, list)
  }
}

// MARK: - libcurl's callbacks; libcurl calls them only on the client's thread and only while the transfer exists

private func transfer(_ context: UnsafeMutableRawPointer?) -> TLSTransfer? {
  guard let context = unsafe context else { return nil }
  return unsafe Unmanaged<TLSTransfer>.fromOpaque(context).takeUnretainedValue()
}

private func takeHeader(
  _ start: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  let bytes = unsafe UnsafeRawBufferPointer(start: start, count: size * count)
  return unsafe transfer(context)?.take(headerLine: bytes) == true ? size * count : 0
}

private func takeBody(
  _ start: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  let bytes = unsafe UnsafeRawBufferPointer(start: start, count: size * count)
  return unsafe transfer(context)?.take(body: bytes) == true ? size * count : -1
}

private func chooseCheckTime(
  _ easy: UnsafeMutableRawPointer?, _ sslContext: UnsafeMutableRawPointer?,
  _ context: UnsafeMutableRawPointer?
) -> CURLcode {
  unsafe transfer(context)?.setCheckTime(sslContext) ?? CURLE_ABORTED_BY_CALLBACK
}
