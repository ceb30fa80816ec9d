/// The rules of a temporary pass, a provider with which viewers without an account may watch for a limited time.
public struct TemporaryPassRules: Hashable, Sendable {
  /// How many started temporary passes are stored, about 250 MB of rows.
  ///
  /// An attacker can invent device ids, so the number is limited. The oldest used-up passes are removed first. To get a
  /// pass removed and start it again, an attacker would have to start this many newer passes.
  public static let remembered = 1_000_000

  /// How long a temporary pass lasts from its first authorization, in wall-clock time, however much is watched.
  public let duration: Duration
  /// How many different resources a temporary pass opens; nil means no limit.
  public let resourceLimit: Int?
  /// Whether the viewer must give an e-mail address, whose hash identifies the viewer in addition to the device id.
  public let promotional: Bool

  public init(duration: Duration, resourceLimit: Int? = nil, promotional: Bool = false) {
    self.duration = duration
    self.resourceLimit = resourceLimit
    self.promotional = promotional
  }
}

/// What a device or an e-mail address has used of a temporary pass.
public struct TemporaryPassUse: Hashable, Sendable {
  /// When the temporary pass was first used for an authorization; nil before that.
  ///
  /// The pass's duration counts from this time.
  public var started: Instant?
  /// The names of the opened resources in rows: long resources are hashes (`ResourceID.stored`).
  public var resources: Set<ResourceID>

  public init(started: Instant? = nil, resources: Set<ResourceID> = []) {
    self.started = started
    self.resources = resources
  }

  /// Combines the use of a temporary pass by a device with the use by an e-mail address: the earlier start, and all
  /// resources.
  ///
  /// So a new device with a known e-mail address, or a known device with a new address, gets no second pass.
  public func joined(with other: TemporaryPassUse) -> TemporaryPassUse {
    let starts = [started, other.started].compactMap(\.self)
    return TemporaryPassUse(started: starts.min(), resources: resources.union(other.resources))
  }
}

/// Why a temporary pass is refused.
public enum TemporaryPassRefusal: Error, Hashable, Sendable {
  case durationExceeded
  /// The pass has opened as many different resources as its limit.
  case resourcesExceeded
  /// The pass is promotional and the request has no e-mail address hash.
  case identityMissing
}

extension TemporaryPassRules {
  /// When the temporary pass ends.
  ///
  /// A pass that has not started is treated as starting now.
  public func expires(_ use: TemporaryPassUse, at now: Instant) -> Instant {
    (use.started ?? now) + duration
  }

  /// Checks that the temporary pass can still sign a device in.
  public func admit(_ use: TemporaryPassUse, identified: Bool, at now: Instant)
    throws(TemporaryPassRefusal)
  {
    guard identified || !promotional else { throw .identityMissing }
    guard now < expires(use, at: now) else { throw .durationExceeded }
  }

  /// Opens a resource with the temporary pass, and returns what is used after that.
  ///
  /// The first resource starts the pass.
  public func opening(_ resource: ResourceID, _ use: TemporaryPassUse, at now: Instant)
    throws(TemporaryPassRefusal) -> TemporaryPassUse
  {
    guard now < expires(use, at: now) else { throw .durationExceeded }
    var after = use
    after.started = use.started ?? now
    // Without a limit, resources are not stored: the row of a year-long pass would grow without end.
    guard let resourceLimit else { return after }
    guard use.resources.contains(resource) || use.resources.count < resourceLimit else {
      throw .resourcesExceeded
    }
    after.resources.insert(resource)
    return after
  }

  /// How many more resources the temporary pass opens; nil if there is no limit.
  public func remainingResources(_ use: TemporaryPassUse) -> Int? {
    resourceLimit.map { max(0, $0 - use.resources.count) }
  }
}
