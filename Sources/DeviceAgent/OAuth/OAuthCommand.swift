import CommandKit
import RegentCryptography
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentOAuth
import RegentPlatform

/// `regent oauth`: manages sign-ins at any server with OAuth's device grant.
enum OAuthCommand {
  static let name = Input.argument("NAME", .oauthName, "a name for the sign-in on this box")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "oauth", "sign in at other OAuth servers and get their tokens",
      details: """
        Works with every server that supports OAuth's device authorization grant (RFC 8628): Regent, Keycloak, \
        glewlwyd, dex. You give the issuer's address; the box shows a code as "regent pair" does. The daemon renews \
        the tokens. If the server supports DPoP, they are bound to a key of this box.
        """,
      commands: [
        add(context), OAuthPairCommand.command(context), OAuthTokenCommand.command(context), list(context),
        remove(context),
      ])
  }

  // MARK: add

  private static let issuer = Input.required(
    "issuer", .text("URL"), "the issuer: the server's address, such as https://login.example.org")
  private static let clientID = Input.required(
    "client-id", .text("ID"), "the client id that the server gave to this program")
  private static let secretFile = Input.option(
    "client-secret-file", .file, "a file (mode 0600) with the client's secret, if the server gave one")
  private static let scope = Input.repeated("scope", .text("S"), "a scope to request")
  private static let audience = Input.option(
    "audience", .text("A"), "the audience of the tokens, if the server needs one")
  private static let resource = Input.option(
    "resource", .webAddress, "the resource of the tokens (RFC 8707), if the server needs one")
  private static let noDPoP = Input.flag("no-dpop", "do not bind the tokens to a key of this box")

  private static func add(_ context: AgentContext) -> Command {
    Command(
      "add", "add a server, without signing in",
      details: """
        Reads the server's metadata document, which must name the same issuer. --ca-file is stored and used for this \
        server only; the ca-file in agent.conf is for the TV service.
        """,
      inputs: [name, issuer, clientID, secretFile, scope, audience, resource, noDPoP],
      example: "regent oauth add music --issuer https://login.example.org --client-id tv --scope offline_access"
    ) { call async throws in
      context.hearsNoSignals()
      let settings = try AgentSettings(call)
      // The secret file is read before this process becomes the daemon's user, who may not be allowed to read it.
      let secret = try call[secretFile].map { try file($0, "--client-secret-file", widest: 0o600).trimmingEnd }
      let authorities = try call[AgentOptions.authorities].map { try file($0, "--ca-file", widest: nil) }
      let caller = OAuthCaller(
        authorities: call[AgentOptions.authorities].map { .file($0) } ?? .system, proxy: settings.proxy,
        buildTime: context.buildTime)
      let document: JSONObject
      do throws(OAuthTrouble) { document = try await caller.document(of: call[issuer]) } catch { throw error.error }
      let client = OAuthClient(
        issuer: call[issuer], id: call[clientID], secret: secret.map { String(decoding: $0, as: UTF8.self) },
        scopes: call[scope], audience: call[audience], resource: call[resource]?.description,
        refusesDPoP: call[noDPoP], server: document)
      let server = try client.discovered()
      let home = try await settings.inDaemonsFolder()
      let folder = OAuthFolder(call[name], in: home.state)
      try create(folder, client, authorities, in: home.state)
      call.show(
        ["name": .string(call[name]), "issuer": .string(client.issuer), "dpop": .bool(client.isBound(at: server))],
        lines: ["\(call[name]) is added; to sign in, run regent oauth pair \(call[name])"])
    }
  }

  private static func create(
    _ folder: OAuthFolder, _ client: OAuthClient, _ authorities: [UInt8]?, in state: String
  ) throws(CommandError) {
    let names = try OAuthFolder.names(in: state)
    if names.contains(folder.name) {
      if (try? folder.client()) != nil {
        throw CommandError(
          "\"\(folder.name)\" already exists",
          hint: "use another name, or first run regent oauth remove \(folder.name)",
          code: "exists")
      }
    } else if names.count >= OAuthFolder.most {
      throw CommandError(
        "this box already has \(OAuthFolder.most) OAuth servers, which is the limit",
        hint: "remove one: regent oauth list, then regent oauth remove NAME", code: "full")
    }
    try folder.create()
    if let authorities { try folder.keep(authorities: authorities) }
    // The client's file is written last, because its existence means that the name was added.
    try folder.keep(client)
  }

  private static func file(_ path: String, _ option: String, widest: UInt32?) throws(CommandError) -> [UInt8] {
    do throws(FileError) {
      let bytes = try DurableFile.read(path, limit: 262_144, widest: widest)
      guard !bytes.isEmpty else { throw FileError(.missing, path: path) }
      return bytes
    } catch {
      throw CommandError(
        "\(option): \(error.description)", hint: error.hint ?? "check the path: ls -l \(shellQuoted(path))")
    }
  }

  // MARK: list, remove

  private static func list(_ context: AgentContext) -> Command {
    Command("list", "list the servers and the state of the sign-ins", example: "regent oauth list") {
      call async throws in
      context.hearsNoSignals()
      let home = try await AgentSettings(call).inDaemonsFolder()
      var table = Table([.init("NAME", .name), .init("ISSUER"), .init("SIGNED IN")])
      var entries: [JSONValue] = []
      for name in try OAuthFolder.names(in: home.state) {
        let folder = OAuthFolder(name, in: home.state)
        guard let client = try? folder.client() else { continue }
        let tokens = try folder.tokens()
        let state = tokens != nil ? "yes" : folder.pendingCode() != nil ? "a code is shown" : "no"
        table.add([name, client.issuer, state])
        var entry: JSONObject = [
          "name": .string(name), "issuer": .string(client.issuer), "clientId": .string(client.id),
          "signedIn": .bool(tokens != nil), "dpop": .bool((try? client.isBound(at: client.discovered())) ?? false),
        ]
        entry["scope"] = tokens?.answer.scope.map(JSONValue.string)
        entries.append(.object(entry))
      }
      call.show(.array(entries), as: table)
    }
  }

  private static func remove(_ context: AgentContext) -> Command {
    Command(
      "remove", "sign out at a server and remove it",
      inputs: [name], example: "regent oauth remove music"
    ) { call async throws in
      context.hearsNoSignals()
      let home = try await AgentSettings(call).inDaemonsFolder()
      let folder = OAuthFolder(call[name], in: home.state)
      let client = try folder.client()
      // The pairing is locked, so that no program gets tokens during the removal.
      let pairing = try folder.pairingLock()
      let lock = try await folder.lock()
      let isRevoked = await revoke(client, folder, home.proxy, context)
      try folder.removeAll()
      lock.release()
      pairing.release()
      call.show(
        ["name": .string(call[name]), "revoked": .bool(isRevoked)],
        lines: [
          "\(call[name]) is removed"
            + (isRevoked ? "" : "; its tokens were not revoked at the server (not reachable, or not signed in)")
        ])
    }
  }

  /// Revokes the tokens at the server (RFC 7009).
  ///
  /// A failure is ignored, because the box forgets the tokens in any case.
  private static func revoke(
    _ client: OAuthClient, _ folder: OAuthFolder, _ proxy: ProxyChoice, _ context: AgentContext
  ) async -> Bool {
    guard let server = try? client.discovered(), let address = server.revocation,
      let tokens = (try? folder.tokens()) ?? nil
    else { return false }
    let (token, kind) =
      tokens.answer.refreshToken.map { ($0, "refresh_token") } ?? (tokens.answer.accessToken, "access_token")
    let caller = OAuthCaller(
      authorities: folder.authorities, proxy: proxy, buildTime: context.buildTime, earliestTime: folder.newestTime)
    return await caller.revoke(token, kind, at: address, as: client, server)
  }
}

extension ValueKind where Value == String {
  /// The type of an argument that names a sign-in of `regent oauth`.
  static var oauthName: ValueKind {
    ValueKind("NAME", show: { $0 }) { text throws(ValueProblem) in
      guard OAuthFolder.isName(text) else {
        throw ValueProblem("is not a valid name", hint: "use at most 64 letters, digits, dashes, underscores and dots")
      }
      return text
    }
  }
}

extension [UInt8] {
  /// The bytes without trailing whitespace, which editors add.
  fileprivate var trimmingEnd: [UInt8] {
    var bytes = self
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    return bytes
  }
}
