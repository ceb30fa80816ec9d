public import RegentJSON
public import RegentPairing

/// The version, start and public address of a running service.
public struct ServiceInfo: AdminDocument, Codable, Hashable {
  public var version: String
  public var started: Instant
  /// The service's public address, which phones open.
  public var publicURL: String?

  private enum CodingKeys: String, CodingKey {
    case version, started
    case publicURL = "publicUrl"
  }

  public init(version: String, started: Instant, publicURL: String? = nil) {
    self.version = version
    self.started = started
    self.publicURL = publicURL
  }
}

/// A copy of the database that is ready to be fetched.
public struct BackupEntry: AdminDocument, Codable, Hashable {
  /// The id by which the copy is fetched.
  public let id: String
  /// The size of the copy in bytes.
  public let size: Int64
  /// The SHA-256 of the copy, in hexadecimal.
  public let sha256: String
  public let created: Instant

  public init(id: String, size: Int64, sha256: String, created: Instant) {
    self.id = id
    self.size = size
    self.sha256 = sha256
    self.created = created
  }
}

/// The result of one check of `doctor`.
public struct Finding: AdminDocument, Codable, Hashable {
  public enum Status: String, AdminWord {
    case good, warning, bad
  }

  /// The name of the check, such as `database` or `signing-keys`.
  public let check: String
  public let status: Status
  /// The result of the check as a sentence.
  public let detail: String
  /// The command that fixes the problem that was found; nil when there is none.
  public let fix: String?

  public init(_ check: String, _ status: Status, _ detail: String, fix: String? = nil) {
    self.check = check
    self.status = status
    self.detail = detail
    self.fix = fix
  }
}

/// The number of records that an action affected, such as sign-ins that ended.
public struct CountDocument: AdminDocument, Hashable {
  public let count: Int

  public init(_ count: Int) {
    self.count = count
  }

  public init(_ object: JSONObject) throws(JSONShapeError) {
    guard let count = try object.optionalInteger("count", 0...Int.max) else {
      throw JSONShapeError(name: "count", expected: "a whole number", isMissing: true)
    }
    self.init(count)
  }

  public var object: JSONObject { ["count": .integer(Int64(count))] }
}
