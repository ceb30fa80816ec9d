public import RegentJSON
public import RegentPairing

/// What a running service says of itself.
public struct ServiceInfo: AdminDocument, Codable, Hashable {
  public var version: String
  public var started: Instant
  /// The address that phones open.
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
  /// What it is fetched by.
  public let id: String
  /// How long it is, in bytes.
  public let size: Int64
  /// The SHA-256 of all bytes, in hexadecimal.
  public let sha256: String
  /// When it was made.
  public let created: Instant

  public init(id: String, size: Int64, sha256: String, created: Instant) {
    self.id = id
    self.size = size
    self.sha256 = sha256
    self.created = created
  }
}

/// What one check of `doctor` found.
public struct Finding: AdminDocument, Codable, Hashable {
  /// How it looks.
  public enum Status: String, AdminWord {
    case good, warning, bad
  }

  /// What was looked at: `database`, `signing-keys`.
  public let check: String
  /// How it looks.
  public let status: Status
  /// What was found, in a sentence.
  public let detail: String
  /// What to type; none when all is well.
  public let fix: String?

  public init(_ check: String, _ status: Status, _ detail: String, fix: String? = nil) {
    self.check = check
    self.status = status
    self.detail = detail
    self.fix = fix
  }
}

/// How many of something an act touched: what ended, what was reset.
public struct Tally: AdminDocument, Hashable {
  /// How many.
  public let count: Int

  /// So many.
  public init(_ count: Int) {
    self.count = count
  }

  /// Reads a number.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    guard let count = try object.optionalInteger("count", 0...Int.max) else {
      throw JSONShapeError(name: "count", expected: "a whole number", isMissing: true)
    }
    self.init(count)
  }

  /// The number as it is sent.
  public var object: JSONObject { ["count": .integer(Int64(count))] }
}
