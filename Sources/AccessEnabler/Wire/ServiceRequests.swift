import RegentHTTPClient
import RegentHTTPCodec
import RegentPairing
import RegentPairingWire

/// An HTTP request before it is signed.
struct WireCall: Sendable {
  var method: RegentHTTPCodec.Method
  var path: String
  var query: [(name: String, value: String)] = []
  var form: [(name: String, value: String)]?
  var headers: [(name: HeaderName, value: String)] = []
}

extension WireCall {
  /// Adds the app's options as query parameters.
  ///
  /// Fields that the request already has are not overridden.
  mutating func add(_ options: EnablerOptions) {
    if let profile = options.applicationProfile {
      query.append((Field.applicationProfile, profile))
    }
    if let visitor = options.visitorID {
      headers.append((HeaderName(known: PairingHeader.visitorID), visitor))
    }
    for (name, value) in options.others.sorted(by: { $0.key < $1.key }) where !Field.all.contains(name) {
      query.append((name, value.text))
    }
  }
}

extension OutgoingCall {
  /// The method, path and parameters of the HTTP request for a call.
  func wireCall(
    deviceID: String, options: EnablerOptions, numberMatching: Bool, codeLifetime: Duration?,
    wait: Int
  ) -> WireCall {
    let device = (name: Field.deviceID, value: deviceID)
    let whose = (name: Field.requestor, value: requestor)
    let both = [whose, device]
    var call: WireCall
    switch operation {
    case .configuration:
      call = WireCall(method: .get, path: "/api/v1/config/\(segment(requestor))", query: [device])
    case .authentication:
      call = WireCall(method: .get, path: Paths.authenticationToken, query: both)
    case .createCode(let provider, let data, _):
      var form = [device]
      if let provider { form.append((Field.provider, provider)) }
      if numberMatching { form.append((Field.match, "number")) }
      if let codeLifetime {
        form.append((Field.lifetime, String(codeLifetime.components.seconds)))
      }
      call = WireCall(method: .post, path: codePath(nil), form: form + genericData(data))
    case .readCode(let code):
      call = WireCall(method: .get, path: codePath(code), query: [device])
    case .awaitCode(let code, let sequence):
      call = WireCall(
        method: .get, path: codePath(code), query: [device, (Field.after, String(sequence))],
        headers: [(.prefer, "wait=\(wait)")])
    case .deleteCode(let code):
      call = WireCall(method: .delete, path: codePath(code), query: [device])
    case .freePreview(let provider, let domain, let data):
      var form = [(Field.requestorID, requestor), device, (Field.providerID, provider)]
      if let domain { form.append((Field.domainName, domain)) }
      call = WireCall(method: .post, path: Paths.freePreview, form: form + genericData(data))
      if !data.isEmpty {
        call.headers.append(
          (HeaderName(known: PairingHeader.temporaryPassIdentity), encoded(data)))
      }
    case .authorize(let resource, let data):
      call = WireCall(
        method: .get, path: Paths.authorize,
        query: both + [(Field.resource, resource)] + genericData(data))
    case .mediaToken(let resource):
      call = WireCall(
        method: .get, path: Paths.mediaToken, query: both + [(Field.resource, resource)])
    case .preauthorize(let resources):
      call = WireCall(method: .get, path: Paths.preauthorize, query: both + list(of: resources))
    case .userMetadata: call = WireCall(method: .get, path: Paths.userMetadata, query: both)
    case .logout: call = WireCall(method: .delete, path: Paths.logout, query: both)
    case .profileRequest(let provider):
      call = WireCall(
        method: .get, path: "/api/v1/\(segment(requestor))/profile-requests/\(segment(provider))",
        query: [device, (Field.deviceType, Self.platformDevice)])
    case .exchange(let provider, let assertion):
      call = WireCall(
        method: .post, path: Paths.authenticationToken,
        form: both + [
          (Field.provider, provider), (Field.deviceType, Self.platformDevice), (Field.platformResponse, assertion),
        ],
        headers: [(.prefer, "return=representation")])
    case .box(.enrol(let publicKey)):
      call = WireCall(
        method: .post, path: Paths.platformKey,
        form: both + [(Field.publicKey, publicKey), (Field.decisions, "signed")])
    case .box(.decision(let app, let whose, let permission, let age, let signed)):
      var form =
        both + [
          (Field.app, app), (Field.appRequestor, whose), (Field.permission, permission), (Field.decision, signed),
        ]
      if age > .zero { form.append((Field.decisionAge, String(age.wholeMilliseconds))) }
      call = WireCall(method: .post, path: Paths.platformPermission, form: form)
    case .box(.decisions(let tag, let seconds)):
      call = WireCall(
        method: .get, path: Paths.platformPermissions, query: both, headers: [(.prefer, "wait=\(seconds)")])
      if let tag { call.headers.append((.ifNoneMatch, tag)) }
    // Never sent: this question goes to the daemon, not to a service.
    case .platform: call = WireCall(method: .get, path: "/")
    }
    call.add(options)
    return call
  }

  /// The device type that is sent, where the original SDK sends iOS or tvOS.
  private static let platformDevice = "linux"

  /// The parameters for a list of resources: one comma-separated value, which every service accepts.
  ///
  /// If a name has a comma or is a Media RSS fragment, each name is a parameter of its own. A single name then gets an
  /// empty second parameter, so that the service does not split the name at its commas.
  private func list(of resources: [String]) -> [(name: String, value: String)] {
    let isPlain = resources.allSatisfy { name in
      !name.contains(",") && !name.hasPrefix("<") && !name.hasPrefix(" ") && !name.hasSuffix(" ")
    }
    if isPlain { return [(Field.resource, resources.joined(separator: ","))] }
    let each = resources.map { (name: Field.resource, value: $0) }
    return each.count > 1 ? each : each + [(name: Field.resource, value: "")]
  }

  /// The URL path of a registration code.
  ///
  /// Services of other makes may use other letters, so the code is sent back unchanged.
  private func codePath(_ code: String?) -> String {
    "/reggie/v1/\(segment(requestor))/regcode" + (code.map { "/" + segment($0) } ?? "")
  }

  private func segment(_ text: String) -> String { PercentEncoding.component(text) }

  private func genericData(_ data: [String: String]) -> [(name: String, value: String)] {
    guard !data.isEmpty else { return [] }
    return [(Field.genericData, String(decoding: jsonBytes(data), as: UTF8.self))]
  }
}
