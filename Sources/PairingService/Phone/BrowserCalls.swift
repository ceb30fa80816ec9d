internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

extension Phone {
  /// Mounts the two paths of protocol V1 that a browser opens: an application's page sends the browser here to sign in
  /// or to sign out.
  func mountBrowserCalls(_ routes: inout Routes) {
    page(&routes, Paths.authenticate, begin)
    page(&routes, Paths.browserLogout) { call in
      let way = try logoutWay(call)
      guard let address = way.address, let ticket = call.queried(Field.logoutTicket),
        let mark = core.logoutTickets.read(ticket, of: way.requestor, at: call.now)
      else { return .page(ConfirmPage(.leave(way.form)), here: way.form) }
      // Signs out without a tap only if the ticket is for this session's viewer and newer than the session. Otherwise
      // any page could sign visitors out with a ticket of its own.
      if let session = call.session, mark.isAbout(session, core.logoutTickets) { try await signOut(&call) }
      return .redirect(address, .found)
    }
    form(&routes, Paths.browserLogout, from: .viewerOrSignedOut) { call in
      let way = try logoutWay(call)
      try await signOut(&call)
      guard let address = way.address else { return .notice(.signedOut) }
      return .leaving(LeavePage(.signedOut, address: address, brand: nil), here: .root)
    }
  }

  // MARK: - Sign-in

  /// Checks the parameters that the application's page sent, and redirects to the page of the code.
  ///
  /// The parameters are kept only in a cookie, so a link to this address changes nothing on the service. The code is
  /// not looked up either. Any page can make a browser request this address, for example as an image, and could use up
  /// the tries of every client at the same IP address. The code is checked, and a wrong one counted, when the viewer
  /// continues.
  private func begin(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    do throws(CallError) {
      let parameters = try CallParameters(call.request)
      let requestor = try requestor(parameters)
      guard try isLast(Field.redirectURL, in: call.request) else {
        throw CallError(.badRequest, details: "\(Field.redirectURL) must be the last parameter")
      }
      let address = try parameters.required(Field.redirectURL)
      let rule = RedirectRule(requestor)
      // The domain may be missing: a requestor whose apps have only their own URI schemes has no domain to name. Such
      // an app's address is registered itself.
      let domain = try parameters.value(Field.domainName)
      if domain == nil, !rule.isRegistered(address) { throw CallError.missing(Field.domainName) }
      guard domain.map(rule.knows) ?? true else {
        throw CallError(.badRequest, details: "\(Field.domainName) is not registered")
      }
      guard rule.allows(address) else {
        throw CallError(.badRequest, details: "\(Field.redirectURL) is not registered")
      }
      let wanted = try parameters.required(Field.providerID)
      guard let provider = ProviderID(wanted),
        core.provisioning.now.choice(provider, of: requestor.id) != nil
      else {
        throw CallError(
          .badRequest, details: "the requestor has no active integration with this provider",
          code: .unknownIntegration)
      }
      guard let code = try? RegistrationCode(typed: try parameters.required(Field.regcode)) else {
        throw CallError(.badRequest, details: "\(Field.regcode) cannot be a code")
      }
      let way = ReturnAddress(code: code, provider: provider, address: address)
      if let cookie = jar.keep(.back, seals.seal(way, browserID: call.browserID)) {
        call.setCookies.append(cookie)
      }
      return .redirect(PagePaths.code(code), .found)
    } catch {
      return refusal(error, call)
    }
  }

  private func requestor(_ parameters: CallParameters) throws(CallError) -> Requestor {
    let id = try parameters.required(Field.requestorID)
    guard let id = RequestorID(id), let requestor = core.provisioning.now.requestor(id) else {
      throw CallError(
        .badRequest, details: "there is no such requestor", code: .invalidRequestor)
    }
    return requestor
  }

  /// Whether the redirect address is the last parameter of the request.
  ///
  /// It must be, because pages forget to percent-encode it. Otherwise a parameter after it could belong either to the
  /// address or to this request.
  private func isLast(_ name: String, in request: Request) throws(CallError) -> Bool {
    do throws(RequestTextError) {
      return try request.queryParameters().all.last?.name == name
    } catch {
      throw CallError(error.status, details: error.description)
    }
  }

  /// Responds to an error: browsers get a page, programs get the protocol's error document.
  private func refusal(_ error: CallError, _ call: PhoneCall) -> PhoneAnswer {
    let format = call.request.wireFormat(suffix: nil, parameter: call.queried(Field.format))
    let document = ErrorDocument(
      status: Int(error.status.rawValue), message: error.message, details: error.details)
    if call.request.header(.accept)?.contains("text/html") == true {
      return .page(NoticePage(.badLink), here: .root)
    }
    return .response(V1Reply(error.status, document, format).response)
  }

  // MARK: - Sign-out

  /// The checked parameters of `/logout`.
  private struct LogoutWay {
    /// The path to which the confirmation form posts.
    var form = SafePath(["logout"])
    /// The registered address to which the browser goes afterwards, and its requestor; nil when the request names none.
    var address: SafePath?
    var requestor: RequestorID?
  }

  private func logoutWay(_ call: PhoneCall) throws -> LogoutWay {
    var way = LogoutWay()
    guard let wanted = call.queried(Field.redirectURL) else { return way }
    let id = call.queried(Field.requestorID) ?? ""
    guard let id = RequestorID(id), let requestor = core.provisioning.now.requestor(id),
      let address = SafePath(leavingTo: wanted, allowedBy: RedirectRule(requestor))
    else { throw PhoneStop(.page(NoticePage(.badLink), here: .root)) }
    way.form = way.form.query("requestor_id", id.text).query("redirect_url", wanted)
    way.address = address
    way.requestor = id
    return way
  }
}
