/// What a client may do: names in the order of ``Scope/all``, each once.
package struct Scope: Sendable, Hashable {
  /// One of the names that mean something here.
  package enum Name: String, Sendable, CaseIterable, Comparable {
    case openid
    case profile
    case offlineAccess = "offline_access"
    case entitlements

    package static func < (one: Self, other: Self) -> Bool {
      Self.allCases.firstIndex(of: one) ?? 0 < Self.allCases.firstIndex(of: other) ?? 0
    }
  }

  /// Every name there is.
  package static let all = Scope(Set(Name.allCases))
  /// The longest text that is read, in bytes: hundreds of names would only cost time.
  private static let longest = 2048

  package let names: Set<Name>

  package init(_ names: Set<Name>) { self.names = names }

  /// Reads the names of a request (RFC 6749 §3.3); those that nobody knows are left out.
  ///
  /// - Throws: `invalid_scope` for characters that no scope may have.
  package init(_ text: String) throws(OAuthError) {
    let bytes = text.utf8
    guard bytes.count <= Self.longest,
      bytes.allSatisfy({ $0 == 0x20 || $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) })
    else { throw OAuthError(.invalidScope, "a scope is made of names with one space between them") }
    let words = bytes.split(separator: 0x20)
    // Each refresh reads what was granted: no text is made of each word.
    names = Set(Name.allCases.filter { name in words.contains { $0.elementsEqual(name.rawValue.utf8) } })
  }

  /// The words of a text that nobody knows.
  package static func unknown(in text: String) -> [Substring] {
    text.split(separator: " ").filter { Name(rawValue: String($0)) == nil }
  }

  /// What of it a client may have.
  package func limited(to allowed: Scope) -> Scope { Scope(names.intersection(allowed.names)) }

  /// What is given of what was asked for: the names that the client may have, all of them when the request says
  /// nothing; `invalid_scope` when nothing is left.
  package static func granted(_ asked: String?, of allowed: Scope) throws(OAuthError) -> Scope {
    guard let asked else { return allowed }
    let granted = try Scope(asked).limited(to: allowed)
    guard !granted.names.isEmpty else {
      throw OAuthError(.invalidScope, "this client may have none of these scopes")
    }
    return granted
  }

  /// What a refresh asks for: never more than was granted (RFC 6749 §6).
  package func narrowed(to asked: String?) throws(OAuthError) -> Scope {
    guard let asked else { return self }
    let wanted = try Scope(asked)
    guard !wanted.names.isEmpty, wanted.names.isSubset(of: names) else {
      throw OAuthError(.invalidScope, "a refresh cannot ask for more than was granted")
    }
    return wanted
  }

  package func contains(_ name: Name) -> Bool { names.contains(name) }

  /// The names with a space between them, as answers and tokens say it.
  package var text: String { Name.allCases.filter(names.contains).map(\.rawValue).joined(separator: " ") }
}
