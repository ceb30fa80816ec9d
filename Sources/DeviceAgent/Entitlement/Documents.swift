import CommandKit
import RegentJSON

// JSON documents that `--json` and the daemon's socket have in common.

extension AgentStatus {
  var document: JSONValue {
    var object: JSONObject = ["signedIn": .bool(signIn != nil), "daemon": .bool(isFromDaemon)]
    if let requestor { object["requestor"] = .string(requestor) }
    if let deviceID { object["deviceId"] = .string(deviceID) }
    if isAccountDisabled { object["accountDisabled"] = true }
    if let signIn {
      object["provider"] = .string(signIn.provider)
      object["providerName"] = .string(signIn.providerName)
      object["userId"] = .string(signIn.user)
      object["expires"] = .integer(signIn.expires)
      object["source"] = .string(signIn.source)
    }
    return .object(object)
  }

  init?(_ document: JSONValue) {
    guard let isSignedIn = document["signedIn"]?.bool else { return nil }
    requestor = document["requestor"]?.string
    deviceID = document["deviceId"]?.string
    isFromDaemon = document["daemon"]?.bool ?? false
    isAccountDisabled = document["accountDisabled"]?.bool ?? false
    guard isSignedIn else { return }
    guard let provider = document["provider"]?.string, let user = document["userId"]?.string,
      let expires = document["expires"]?.int64
    else { return nil }
    signIn = SignInFacts(
      provider: provider, providerName: document["providerName"]?.string ?? provider, user: user,
      expires: expires, source: document["source"]?.string ?? "regular")
  }
}

extension ProviderEntry {
  var document: JSONValue {
    ["id": .string(id), "name": .string(name), "featured": .bool(isFeatured)]
  }

  init?(_ document: JSONValue) {
    guard let id = document["id"]?.string, let name = document["name"]?.string else { return nil }
    self.init(id: id, name: name, isFeatured: document["featured"]?.bool ?? false)
  }
}

extension MediaGrant {
  var document: JSONValue {
    [
      "resource": .string(resource), "token": .string(token), "expires": .integer(expires),
      "provider": .string(provider),
    ]
  }

  init?(_ document: JSONValue) {
    guard let resource = document["resource"]?.string, let token = document["token"]?.string,
      let expires = document["expires"]?.int64, let provider = document["provider"]?.string
    else { return nil }
    self.init(resource: resource, token: token, expires: expires, provider: provider)
  }
}

extension CommandError {
  /// The error as JSON, as the daemon's socket sends it.
  var document: JSONValue {
    var error: JSONObject = [
      "code": .string(code), "message": .string(message),
      "exit": .integer(Int64(exit.rawValue)),
    ]
    if let hint { error["hint"] = .string(hint) }
    return ["error": .object(error)]
  }

  init?(_ document: JSONValue) {
    guard let error = document["error"], let message = error["message"]?.string else { return nil }
    let exit = error["exit"]?.int64.flatMap { Int32(exactly: $0) } ?? 1
    self.init(
      message, hint: error["hint"]?.string, code: error["code"]?.string ?? "failed",
      exit: ExitCode(rawValue: (1...125).contains(exit) ? exit : 1))
  }
}
