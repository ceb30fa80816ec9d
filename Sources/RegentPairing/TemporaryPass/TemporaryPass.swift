/// The rules of a temporary provider: watch without an account, for a while.
public struct TemporaryPassRules: Hashable, Sendable {
  /// How many begun passes are remembered, used up or not: about 250 MB of rows.
  ///
  /// Device ids can be made up, so their number needs an end; the oldest that are used up make room, which takes as
  /// many newer ones as this.
  public static let remembered = 1_000_000

  /// How long it lasts, in wall time, whatever is watched.
  public let duration: Duration
  /// How many different resources it opens; none means all.
  public let resourceLimit: Int?
  /// Whether it asks for an identity (a hash of the viewer's mail address) besides the device.
  public let promotional: Bool

  /// Rules for a temporary provider.
  public init(duration: Duration, resourceLimit: Int? = nil, promotional: Bool = false) {
    self.duration = duration
    self.resourceLimit = resourceLimit
    self.promotional = promotional
  }
}

/// What has been used of one temporary pass.
public struct TemporaryPassUse: Hashable, Sendable {
  /// The first authorization, from which the time runs; none until then.
  public var started: Instant?
  /// The different resources opened so far.
  public var resources: Set<ResourceID>

  /// What has been used; nothing at first.
  public init(started: Instant? = nil, resources: Set<ResourceID> = []) {
    self.started = started
    self.resources = resources
  }

  /// What counts when a device and an identity have each used some: the earlier start, everything opened.
  ///
  /// A new device with a known mail address, or a known device with a new address, gets no second pass.
  public func joined(with other: TemporaryPassUse) -> TemporaryPassUse {
    let starts = [started, other.started].compactMap(\.self)
    return TemporaryPassUse(started: starts.min(), resources: resources.union(other.resources))
  }
}

/// Why a temporary pass opens nothing (more).
public enum TemporaryPassRefusal: Error, Hashable, Sendable {
  /// Its time is up.
  case durationExceeded
  /// It has opened as many different resources as it may.
  case resourcesExceeded
  /// A promotional pass needs to know for whom it is.
  case identityMissing
}

extension TemporaryPassRules {
  /// When a pass ends: counted from its start, or from now when it has not started.
  public func expires(_ use: TemporaryPassUse, at now: Instant) -> Instant {
    (use.started ?? now) + duration
  }

  /// Whether the pass may still sign a device in.
  public func admit(_ use: TemporaryPassUse, identified: Bool, at now: Instant)
    throws(TemporaryPassRefusal)
  {
    guard identified || !promotional else { throw .identityMissing }
    guard now < expires(use, at: now) else { throw .durationExceeded }
  }

  /// Opens a resource: the use after it, started now if it was the first.
  public func opening(_ resource: ResourceID, _ use: TemporaryPassUse, at now: Instant)
    throws(TemporaryPassRefusal) -> TemporaryPassUse
  {
    guard now < expires(use, at: now) else { throw .durationExceeded }
    var after = use
    after.started = use.started ?? now
    // Without a cap nothing is counted: a year-long pass must not grow a row for ever.
    guard let resourceLimit else { return after }
    guard use.resources.contains(resource) || use.resources.count < resourceLimit else {
      throw .resourcesExceeded
    }
    after.resources.insert(resource)
    return after
  }

  /// How many more resources it opens; none when it does not count them.
  public func remainingResources(_ use: TemporaryPassUse) -> Int? {
    resourceLimit.map { max(0, $0 - use.resources.count) }
  }
}
