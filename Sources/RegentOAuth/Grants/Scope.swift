/// What a client may do: names in the order of ``Scope/all``, each once.
package struct Scope: Sendable, Hashable {
  /// One of the names that mean something here.
  package enum Name: String, Sendable, CaseIterable, Comparable {
    case openid
    case profile
    case offlineAccess = "offline_access"
    case entitlements

    /// Its place among the names, as a bit.
    fileprivate var bit: UInt8 {
      switch self {
      case .openid: 1
      case .profile: 2
      case .offlineAccess: 4
      case .entitlements: 8
      }
    }

    /// The name that a word is; no text is made of it.
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

  /// Every name there is.
  package static let all = Scope(Set(Name.allCases))
  /// The longest text that is read, in bytes: hundreds of names would only cost time.
  private static let longest = 2048

  /// A bit for each name: each refresh reads, limits and says what was granted several times.
  private let held: UInt8

  private init(held: UInt8) { self.held = held }

  package init(_ names: Set<Name>) { held = names.reduce(0) { $0 | $1.bit } }

  package var names: Set<Name> { Set(Name.allCases.filter(contains)) }
  package var isEmpty: Bool { held == 0 }

  /// Reads the names of a request (RFC 6749 §3.3); those that nobody knows are left out.
  ///
  /// - Throws: `invalid_scope` for characters that no scope may have.
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
    OAuthError(.invalidScope, "a scope is made of names with one space between them")
  }

  /// The words of a text that nobody knows.
  package static func unknown(in text: String) -> [Substring] {
    text.split(separator: " ").filter { Name(rawValue: String($0)) == nil }
  }

  /// What of it a client may have.
  package func limited(to allowed: Scope) -> Scope { Scope(held: held & allowed.held) }

  /// Whether another has all names of this one.
  package func isSubset(of other: Scope) -> Bool { held & ~other.held == 0 }

  /// What is given of what was asked for: the names that the client may have, all of them when the request says
  /// nothing; `invalid_scope` when nothing is left.
  package static func granted(_ asked: String?, of allowed: Scope) throws(OAuthError) -> Scope {
    guard let asked else { return allowed }
    let granted = try Scope(asked).limited(to: allowed)
    guard !granted.isEmpty else {
      throw OAuthError(.invalidScope, "this client may have none of these scopes")
    }
    return granted
  }

  /// What a refresh asks for: never more than was granted (RFC 6749 §6).
  package func narrowed(to asked: String?) throws(OAuthError) -> Scope {
    guard let asked else { return self }
    let wanted = try Scope(asked)
    guard !wanted.isEmpty, wanted.isSubset(of: self) else {
      throw OAuthError(.invalidScope, "a refresh cannot ask for more than was granted")
    }
    return wanted
  }

  package func contains(_ name: Name) -> Bool { held & name.bit != 0 }

  /// The names with a space between them, as answers and tokens say it.
  package var text: String { Self.texts[Int(held)] }

  /// The text of each scope that there can be.
  private static let texts = (0..<(UInt8(1) << Name.allCases.count)).map { held in
    Name.allCases.filter { held & $0.bit != 0 }.map(\.rawValue).joined(separator: " ")
  }
}
