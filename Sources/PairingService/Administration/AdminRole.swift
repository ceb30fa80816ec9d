package import RegentHTTPCodec

/// What a local user may do on the admin socket.
///
/// Each role includes the ones before it.
package enum AdminRole: String, Sendable, CaseIterable, Comparable {
  /// Reads everything except secrets and copies of the database. The role has nothing to do with viewers of TV.
  case viewer
  /// Like `viewer`; may also approve and withdraw codes, set passwords of accounts, and sign boxes and browsers out.
  case desk
  /// Like `desk`; may also change requestors, providers, accounts, rules, clients and invitations, and export or erase
  /// viewer data.
  case `operator`
  /// Like `operator`; may also make and revoke keys, copy the database, and change the master key.
  case owner

  package static func < (one: AdminRole, other: AdminRole) -> Bool { one.rank < other.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// The least role that a call needs.
  ///
  /// A call that is not in the table needs the role `owner`; a test demands that each route is in it.
  package static func needed(for method: Method, _ pattern: String) -> AdminRole {
    table["\(method.token) \(pattern)"] ?? .owner
  }

  /// The calls in the table.
  package static var calls: Set<String> { Set(table.keys) }

  private static let table: [String: AdminRole] = [
    "GET /metrics": .viewer,
    "GET /v1/service": .viewer,
    "GET /v1/stats": .viewer,
    "GET /v1/doctor": .viewer,
    "GET /v1/why": .viewer,
    "GET /v1/audit": .viewer,
    "GET /v1/audit/newest": .viewer,
    "GET /v1/nodes": .viewer,
    "GET /v1/nodes/{node}": .viewer,
    "GET /v1/requestors": .viewer,
    "GET /v1/requestors/{requestor}": .viewer,
    "GET /v1/requestors/{requestor}/integrations": .viewer,
    "GET /v1/requestors/{requestor}/integrations/{provider}": .viewer,
    "GET /v1/requestors/{requestor}/keys": .viewer,
    "GET /v1/keys/{key}": .viewer,
    "GET /v1/statements": .viewer,
    "GET /v1/statements/{statement}": .viewer,
    "GET /v1/signing-keys": .viewer,
    "GET /v1/signing-keys/{key}": .viewer,
    "GET /v1/invitations": .viewer,
    "GET /v1/client-invitations": .viewer,
    "GET /v1/clients": .viewer,
    "GET /v1/clients/{client}": .viewer,
    "GET /v1/grants": .viewer,
    "GET /v1/providers": .viewer,
    "GET /v1/providers/{provider}": .viewer,
    "GET /v1/providers/{provider}/accounts": .viewer,
    "GET /v1/providers/{provider}/account": .viewer,
    "GET /v1/providers/{provider}/entitlements": .viewer,
    "GET /v1/providers/{provider}/title-test": .viewer,
    "GET /v1/providers/{provider}/channels": .viewer,
    "GET /v1/entitlements/{rule}": .viewer,
    "GET /v1/codes": .viewer,
    "GET /v1/sign-ins": .viewer,
    "GET /v1/sign-ins/{authentication}": .viewer,
    "GET /v1/devices": .viewer,
    "GET /v1/boxes": .viewer,
    "GET /v1/boxes/{box}": .viewer,
    "GET /v1/sessions": .viewer,
    "GET /v1/sessions/{session}": .viewer,
    "GET /v1/temporary-passes": .viewer,
    "POST /v1/tokens/verify": .viewer,

    // With the letters of a code, the call says whether the code exists.
    "GET /v1/codes/{code}": .desk,
    "POST /v1/codes/{code}/withdraw": .desk,
    "POST /v1/codes/{code}/approve": .desk,
    "PUT /v1/providers/{provider}/account/password": .desk,
    "POST /v1/sign-ins/{authentication}/revoke": .desk,
    "PATCH /v1/devices": .desk,
    "DELETE /v1/devices": .desk,
    "POST /v1/boxes/{box}/sign-out": .desk,
    "POST /v1/sessions/{session}/end": .desk,
    "POST /v1/grants/{grant}/revoke": .desk,

    "PUT /v1/requestors/{requestor}": .operator,
    "PATCH /v1/requestors/{requestor}": .operator,
    "DELETE /v1/requestors/{requestor}": .operator,
    "PATCH /v1/requestors/{requestor}/integrations/{provider}": .operator,
    "DELETE /v1/requestors/{requestor}/integrations/{provider}": .operator,
    "POST /v1/requestors/{requestor}/invitations": .operator,
    "POST /v1/invitations/{invitation}/revoke": .operator,
    "POST /v1/requestors/{requestor}/client-invitations": .operator,
    "POST /v1/client-invitations/{invitation}/revoke": .operator,
    "POST /v1/requestors/{requestor}/clients": .operator,
    "PATCH /v1/clients/{client}": .operator,
    "DELETE /v1/clients/{client}": .operator,
    "PUT /v1/providers/{provider}": .operator,
    "PATCH /v1/providers/{provider}": .operator,
    "DELETE /v1/providers/{provider}": .operator,
    "PUT /v1/providers/{provider}/account": .operator,
    "PATCH /v1/providers/{provider}/account": .operator,
    "DELETE /v1/providers/{provider}/account": .operator,
    "GET /v1/providers/{provider}/account/data": .operator,
    "POST /v1/providers/{provider}/account/erase": .operator,
    "POST /v1/accounts": .operator,
    "POST /v1/accounts/hashes": .operator,
    "PUT /v1/providers/{provider}/entitlements": .operator,
    "DELETE /v1/entitlements/{rule}": .operator,
    "POST /v1/temporary-passes/reset": .operator,
    "POST /v1/nodes/{node}/drain": .operator,
    "POST /v1/nodes/{node}/resume": .operator,

    "POST /v1/requestors/{requestor}/keys": .owner,
    "POST /v1/keys/{key}/retire": .owner,
    "POST /v1/keys/{key}/revoke": .owner,
    "POST /v1/requestors/{requestor}/statements": .owner,
    "POST /v1/statements/{statement}/revoke": .owner,
    "POST /v1/signing-keys/rotate": .owner,
    "POST /v1/signing-keys/{key}/retire": .owner,
    "POST /v1/master-key/change": .owner,
    "POST /v1/backups": .owner,
    "GET /v1/backups/{backup}": .owner,
    "DELETE /v1/backups/{backup}": .owner,
  ]
}
