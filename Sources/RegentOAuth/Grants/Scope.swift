/// The scope of a grant: a set of the names that the service knows, written in the order of ``Name``.
package struct Scope: Sendable, Hashable {
  /// A scope name that the service supports.
  package enum Name: String, Sendable, CaseIterable, Comparable {
    case openid
    case profile
    case offlineAccess = "offline_access"
    case entitlements

    /// The bit that stands for the name in ``Scope``.
    fileprivate var bit: UInt8 {
      switch self {
      case .openid: 1
      case .profile: 2
      case .offlineAccess: 4
      case .entitlements: 8
      }
    }

    /// Finds the name that these bytes spell, without an allocation.
    fileprivate init?(_ word: Span<UInt8>) {
      for name in Self.allCases where name.isSpelled(word) {
        self = name
        return
      }
      return nil
    }

    private func isSpelled(_ word: Span<UInt8>) -> Bool {
      let own = rawValue.utf8.span
      guard own.count == word.count else { return false }
      for place in own.indices where own[place] != word[place] { return false }
      return true
    }

    package static func < (one: Self, other: Self) -> Bool { one.bit < other.bit }
  }

  /// The scope with every name that the service supports.
  package static let all = Scope(Set(Name.allCases))
  /// The longest scope text that is parsed, in bytes.
  ///
  /// A longer one would only cost time.
  private static let longest = 2048

  /// The scope as one bit for each name, because each refresh parses, limits and writes its scope several times.
  private let held: UInt8

  private init(held: UInt8) { self.held = held }

  package init(_ names: Set<Name>) { held = names.reduce(0) { $0 | $1.bit } }

  package var names: Set<Name> { Set(Name.allCases.filter(contains)) }
  package var isEmpty: Bool { held == 0 }

  /// Parses the scope of a request (RFC 6749 §3.3).
  ///
  /// Unknown names are ignored.
  ///
  /// - Throws: `invalid_scope` for characters that a scope must not contain.
  package init(_ text: String) throws(OAuthError) {
    let bytes = text.utf8.span
    guard bytes.count <= Self.longest else { throw Self.malformed }
    var (held, start) = (UInt8(0), 0)
    for place in bytes.indices {
      switch bytes[place] {
      case 0x20:
        held |= Name(bytes.extracting(start..<place))?.bit ?? 0
        start = place + 1
      case 0x21, 0x23...0x5B, 0x5D...0x7E: continue
      default: throw Self.malformed
      }
    }
    self.held = held | (Name(bytes.extracting(start..<bytes.count))?.bit ?? 0)
  }

  private static var malformed: OAuthError {
    OAuthError(.invalidScope, "a scope must consist of names with one space between them")
  }

  /// The words of a scope text that are not supported names.
  package static func unknown(in text: String) -> [Substring] {
    text.split(separator: " ").filter { Name(rawValue: String($0)) == nil }
  }

  /// The names of this scope that are also in `allowed`.
  package func limited(to allowed: Scope) -> Scope { Scope(held: held & allowed.held) }

  package func isSubset(of other: Scope) -> Bool { held & ~other.held == 0 }

  /// The scope to grant for a request: the requested names that the client may have, or all of them if the request has
  /// no scope.
  ///
  /// Throws `invalid_scope` if none remain.
  package static func granted(_ asked: String?, of allowed: Scope) throws(OAuthError) -> Scope {
    guard let asked else { return allowed }
    let granted = try Scope(asked).limited(to: allowed)
    guard !granted.isEmpty else {
      throw OAuthError(.invalidScope, "this client is not allowed any of these scopes")
    }
    return granted
  }

  /// The scope of a refresh request, which may not exceed the scope of the grant (RFC 6749 §6).
  package func narrowed(to asked: String?) throws(OAuthError) -> Scope {
    guard let asked else { return self }
    let wanted = try Scope(asked)
    guard !wanted.isEmpty, wanted.isSubset(of: self) else {
      throw OAuthError(.invalidScope, "a refresh cannot request a scope that was not granted")
    }
    return wanted
  }

  package func contains(_ name: Name) -> Bool { held & name.bit != 0 }

  /// The names of the scope, separated by spaces, as in responses and tokens.
  package var text: String { Self.texts[Int(held)] }

  /// The text of each possible scope, by its bits.
  private static let texts = (0..<(UInt8(1) << Name.allCases.count)).map { held in
    Name.allCases.filter { held & $0.bit != 0 }.map(\.rawValue).joined(separator: " ")
  }
}
