internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

extension Phone {
  /// The calls of protocol V1 that a browser makes: a programmer's page sends it here to sign in, or to sign out.
  func mountBrowserCalls(_ routes: inout Routes) {
    page(&routes, Paths.authenticate, begin)
    page(&routes, Paths.browserLogout) { call in
      let way = try logoutWay(call)
      guard let address = way.address, let ticket = call.queried(Field.logoutTicket),
        let mark = core.logoutTickets.read(ticket, of: way.requestor, at: call.now)
      else { return .page(ConfirmPage(.leave(way.form)), here: way.form) }
      // The device that was signed out asks itself. A browser of somebody else's, or one that has signed in again
      // meanwhile, keeps its sign-in: a foreign page with a ticket of its own signs nobody out.
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

  /// Checks everything that the programmer's page says, and shows the code.
  ///
  /// It is remembered in the browser alone: a link to this address changes nothing. Nor is the code looked up: any page
  /// can make a browser ask for this address, as a picture, and so spend the tries of all who live there. Whether there
  /// is such a code shows when the viewer taps on, where a wrong one counts.
  private func begin(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    do throws(CallError) {
      let parameters = try CallParameters(call.request)
      let requestor = try requestor(parameters)
      guard try isLast(Field.redirectURL, in: call.request) else {
        throw CallError(.badRequest, details: "\(Field.redirectURL) must be the last parameter")
      }
      let address = try parameters.required(Field.redirectURL)
      let rule = RedirectRule(requestor)
      // An app's own address stands for itself; a requestor of such apps alone has no domain to name.
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
          .badRequest, details: "the provider does not work with this requestor",
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

  /// Written last, because pages forget to escape it: whatever follows would belong to it, or be taken from it.
  private func isLast(_ name: String, in request: Request) throws(CallError) -> Bool {
    do throws(RequestTextError) {
      return try request.queryParameters().all.last?.name == name
    } catch {
      throw CallError(error.status, details: error.description)
    }
  }

  /// A page for people, the protocol's document for programs.
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

  /// What `/logout` was asked for.
  private struct LogoutWay {
    /// Where its form goes.
    var form = SafePath(["logout"])
    /// Where the browser goes then, and whose address that is.
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
