public import RegentCryptography

/// The result of comparing a password with a stored hash.
public enum PasswordCheck: Sendable, Equatable {
  case right
  /// The password is right, but its hash was made with other work factors and should be replaced.
  case rightButOutdated
  /// The password is wrong, or the account does not exist.
  case wrong
}

public enum PasswordError: Error, Sendable, Equatable, CustomStringConvertible {
  /// All hashing threads are busy and the queue is full. Try again later.
  case busy
  case outOfMemory
  /// A new password is longer than ``PasswordHasher/longestPassword``.
  case tooLong
  /// The stored value is not a hash in a known form.
  case malformedHash
  /// The stored hash needs more memory or work than allowed.
  case tooExpensive
  case noThreads

  /// A sentence about the error for the log.
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

/// Hashes and checks passwords with Argon2id on its own threads.
///
/// One hash takes about 20 ms and 19 MiB. `slots` threads limit both: a flood of sign-ins cannot use more than `slots`
/// cores and `slots` times that memory. When `waiting` jobs are queued, further ones fail with ``PasswordError/busy``.
/// Neither event loops nor Swift's task pool are blocked. All clients share the queue, so put a rate limit before it.
///
/// A check takes the same time whether the account exists or not. A hash of another form (other work factors, another
/// program) takes another time until the next successful sign-in replaces it. So that the time does not reveal which
/// accounts have such hashes, the caller passes all forms in use (`beside`), and every check then computes one hash of
/// each form.
public final class PasswordHasher: Sendable {
  /// The longest password in bytes.
  ///
  /// Hashing a longer one would only take time.
  public static let longestPassword = 1024

  public let parameters: Argon2Parameters
  private let threads: WorkerThreads

  /// Starts the hashing threads.
  ///
  /// They end when the hasher is released.
  public init(
    _ parameters: Argon2Parameters = .standard, slots: Int = 2, waiting: Int = 64
  ) throws(PasswordError) {
    self.parameters = parameters
    guard let threads = WorkerThreads(count: max(1, slots), waiting: waiting) else {
      throw .noThreads
    }
    self.threads = threads
  }

  /// Hashes a new password.
  ///
  /// Returns the text to store.
  public func hash(_ password: Secret) async throws(PasswordError) -> String {
    try await withCheckedContinuation { continuation in
      hash(password) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Compares a password with a stored hash; nil when there is no account, which takes the same time.
  ///
  /// `forms` are the other forms in use. One hash of each is computed, so that the time does not reveal an account's
  /// form.
  package func check(
    _ password: Secret, against stored: String?, beside forms: Set<PasswordForm> = []
  ) async throws(PasswordError) -> PasswordCheck {
    try await withCheckedContinuation { continuation in
      check(password, against: stored, beside: forms) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Hashes a new password.
  ///
  /// `completion` is called once: on a thread of the hasher, or on this one if it is refused.
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

  /// Compares a password with a stored hash.
  ///
  /// `completion` is called once: on a thread of the hasher, or on this one if the queue is full.
  package func check(
    _ password: Secret, against stored: String?, beside forms: Set<PasswordForm> = [],
    completion: @escaping @Sendable (Result<PasswordCheck, PasswordError>) -> Void
  ) {
    start(completion) { [parameters] () throws(PasswordError) in
      let own = PasswordForm.argon2id(parameters)
      let hash = if let stored { try PasswordHash(reading: stored) } else { PasswordHash.dummy(own) }
      // A password that is too long is wrong. Such a password must neither be hashed in full nor be answered sooner
      // than others.
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

  /// The forms of the hashes that one check computes.
  ///
  /// The order is always the same, because the data that one hash leaves in the CPU's caches affects the time of the
  /// next.
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
