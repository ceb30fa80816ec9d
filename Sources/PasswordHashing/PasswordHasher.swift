public import RegentCryptography

/// What comparing a password with a stored hash gave.
public enum PasswordCheck: Sendable, Equatable {
  /// The password is right.
  case right
  /// The password is right, and the hash was made with other work factors: store a new one.
  case rightButOutdated
  /// The password is wrong, or there is no such account.
  case wrong
}

/// Why a password could not be hashed or checked.
public enum PasswordError: Error, Sendable, Equatable, CustomStringConvertible {
  /// All slots are taken and enough others wait: try again later.
  case busy
  /// There is no memory for the hash.
  case outOfMemory
  /// A new password is longer than ``PasswordHasher/longestPassword``.
  case tooLong
  /// The stored value is not a hash in a form that is known.
  case malformedHash
  /// The stored value asks for more memory or work than is allowed.
  case tooExpensive
  /// The threads could not be started.
  case noThreads

  /// A sentence for the log.
  public var description: String {
    switch self {
    case .busy: "too many passwords are being checked; try again in a moment"
    case .outOfMemory: "no memory left to hash a password"
    case .tooLong: "a password may have at most \(PasswordHasher.longestPassword) bytes"
    case .malformedHash: "the stored password hash is in no form that is known"
    case .tooExpensive: "the stored password hash asks for more memory or work than is allowed"
    case .noThreads: "no thread can be started to hash passwords"
    }
  }
}

/// Hashes and checks passwords with Argon2id on threads of its own.
///
/// One hash takes about 20 ms and 19 MiB. `slots` threads bound both: a flood of sign-ins cannot take more than
/// `slots` cores and `slots` times the memory, and beyond `waiting` jobs in line the answer is
/// ``PasswordError/busy``. Nothing here blocks an event loop or the pool of Swift's tasks. Still put a limiter before
/// it: the line is shared by everybody.
///
/// A check takes the same time whether the account exists or not. A hash in another form, of other work factors or of
/// another program, takes another time until it is renewed at the next right password; whoever says which forms there
/// are (`beside`) has every check make one hash in each of them, so that the time does not say whose is which.
public final class PasswordHasher: Sendable {
  /// The longest password in bytes; hashing a longer one would only cost time.
  public static let longestPassword = 1024

  /// The work factors of new hashes.
  public let parameters: Argon2Parameters
  private let threads: WorkerThreads

  /// A hasher; its threads end when it goes away.
  public init(
    _ parameters: Argon2Parameters = .standard, slots: Int = 2, waiting: Int = 64
  ) throws(PasswordError) {
    self.parameters = parameters
    guard let threads = WorkerThreads(count: max(1, slots), waiting: waiting) else {
      throw .noThreads
    }
    self.threads = threads
  }

  /// Hashes a new password; gives the text to store.
  public func hash(_ password: Secret) async throws(PasswordError) -> String {
    try await withCheckedContinuation { continuation in
      hash(password) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Compares a password with what is stored; nil when there is no account, which takes the same time.
  ///
  /// `forms` are those, besides our own, among which nobody is to find out whose is which.
  package func check(
    _ password: Secret, against stored: String?, beside forms: Set<PasswordForm> = []
  ) async throws(PasswordError) -> PasswordCheck {
    try await withCheckedContinuation { continuation in
      check(password, against: stored, beside: forms) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Hashes a new password; `completion` is called once, on a thread of the hasher, or at once here when it is busy.
  public func hash(
    _ password: Secret, completion: @escaping @Sendable (Result<String, PasswordError>) -> Void
  ) {
    guard password.count <= PasswordHasher.longestPassword else {
      return completion(.failure(.tooLong))
    }
    start(completion) { [parameters] () throws(PasswordError) in
      try PasswordHash.make(password, parameters).text
    }
  }

  /// Compares a password with what is stored; `completion` is called once, on a thread of the hasher, or at once here
  /// when it is busy.
  package func check(
    _ password: Secret, against stored: String?, beside forms: Set<PasswordForm> = [],
    completion: @escaping @Sendable (Result<PasswordCheck, PasswordError>) -> Void
  ) {
    start(completion) { [parameters] () throws(PasswordError) in
      let own = PasswordForm.argon2id(parameters)
      let hash = if let stored { try PasswordHash(reading: stored) } else { PasswordHash.dummy(own) }
      // A password that is too long is wrong, but must not be hashed at its length, nor answered sooner.
      let isLong = password.count > PasswordHasher.longestPassword
      let candidate = isLong ? Secret("") : password
      var isRight = false
      for form in Self.order(hash.form, beside: forms, own) {
        if form == hash.form {
          isRight = try hash.isHash(of: candidate)
        } else {
          _ = try PasswordHash.dummy(form).isHash(of: candidate)
        }
      }
      guard isRight, !isLong, stored != nil else { return .wrong }
      let isCurrent = hash.form == own && hash.hash.count == PasswordHash.hashLength
      return isCurrent ? .right : .rightButOutdated
    }
  }

  /// The hashes that one check makes.
  ///
  /// Always in the same order: what the first leaves in the caches, the next one finds.
  package func order(_ form: PasswordForm?, beside forms: Set<PasswordForm>) -> [PasswordForm] {
    let own = PasswordForm.argon2id(parameters)
    return Self.order(form ?? own, beside: forms, own)
  }

  private static func order(
    _ form: PasswordForm, beside forms: Set<PasswordForm>, _ own: PasswordForm
  ) -> [PasswordForm] {
    forms.isEmpty ? [form] : forms.union([own, form]).sorted { $0.name < $1.name }
  }

  private func start<Value: Sendable>(
    _ completion: @escaping @Sendable (Result<Value, PasswordError>) -> Void,
    _ work: @escaping @Sendable () throws(PasswordError) -> Value
  ) {
    let isAccepted = threads.run { completion(Result(catching: work)) }
    if !isAccepted { completion(.failure(.busy)) }
  }
}
