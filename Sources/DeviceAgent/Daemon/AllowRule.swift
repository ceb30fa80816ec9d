import CommandKit
import RegentPlatform

/// An action of the daemon that agent.conf can allow to local programs.
enum DaemonAction: String, CaseIterable, Sendable {
  case status, providers, preauthorize, token, metadata, header, logout, pair, sso, oauth

  /// Whether a rule may limit the action to certain names, as in `token=sport-*`.
  var takesNames: Bool {
    switch self {
    case .token, .preauthorize, .header, .oauth: true
    case .status, .providers, .metadata, .logout, .pair, .sso: false
    }
  }

  /// What a user may do with the permission for this action, as `regent doctor` prints it.
  var gives: String {
    switch self {
    case .status: "who is signed in"
    case .providers: "the list of TV providers"
    case .preauthorize: "which titles may be watched"
    case .token: "media tokens"
    case .metadata: "the viewer's attributes"
    case .header: "signed headers for ordinary calls, and the box's device id"
    case .logout: "signing the box out"
    case .pair: "signing the box in"
    case .sso: "decisions for apps, and signing the box out"
    case .oauth: "access tokens of other services"
    }
  }

  /// Whether each use of the action is logged.
  ///
  /// Only actions that give out secrets or change data are logged.
  ///
  /// The others are not logged, because a launcher that polls would fill the journal.
  var isWorthALine: Bool {
    switch self {
    case .token, .header, .logout, .pair, .sso, .oauth: true
    case .status, .providers, .preauthorize, .metadata: false
    }
  }
}

/// A line of agent.conf that allows actions to a user, a group or every user.
///
///     allow = user:kodi token=sport-* preauthorize status
struct AllowRule: Sendable, Equatable {
  enum Who: Sendable, Equatable {
    case user(UInt32)
    case group(UInt32)
    case everybody
  }

  let who: Who
  /// The user or group of the rule, as its line in agent.conf spells it.
  let title: String
  /// The allowed actions, each with patterns of the resources for which it is allowed.
  ///
  /// `*` matches any text.
  let actions: [DaemonAction: [String]]

  init(parsing text: String, in place: String) throws(CommandError) {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let first = words.first, words.count > 1 else {
      throw .usage(
        "\(place): allow \"\(text)\" does not say who may do what",
        hint: "use the form allow = user:NAME token=PATTERN preauthorize status")
    }
    who = try Self.who(first, place)
    title = first
    var actions: [DaemonAction: [String]] = [:]
    for word in words.dropFirst() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let action = DaemonAction(rawValue: String(parts[0])) else {
        throw .usage(
          "\(place): there is no action \"\(parts[0])\"",
          hint: "the actions are \(DaemonAction.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      guard parts.count == 1 || action.takesNames else {
        throw .usage(
          "\(place): \(harmless(word)): \(action.rawValue) cannot be limited to names",
          hint: "use \(action.rawValue) without a value; names are possible for "
            + DaemonAction.allCases.filter(\.takesNames).map(\.rawValue).joined(separator: ", "))
      }
      if action == .header, parts.count == 2 { try HeaderCall.check(String(parts[1]), place) }
      actions[action, default: []].append(parts.count == 2 ? String(parts[1]) : "*")
    }
    self.actions = actions
  }

  /// Whether this rule allows the action to the caller, for this resource if there is one.
  func allows(_ action: DaemonAction, resource: String?, to caller: UnixCredentials) -> Bool {
    guard let patterns = patterns(of: action, for: caller) else { return false }
    guard let resource else { return true }
    return patterns.contains { matches(resource, pattern: $0) }
  }

  /// Whether this rule allows the action to the caller for every resource.
  func allowsAll(_ action: DaemonAction, to caller: UnixCredentials) -> Bool {
    patterns(of: action, for: caller)?.contains("*") ?? false
  }

  private func patterns(of action: DaemonAction, for caller: UnixCredentials) -> [String]? {
    switch who {
    case .everybody: break
    case .user(let id): guard caller.user == id else { return nil }
    case .group(let id): guard caller.isMember(of: id) else { return nil }
    }
    return actions[action]
  }

  /// Parses the numeric id of a user or group.
  ///
  /// The largest number is refused, because the kernel uses it for "no id".
  private static func id(_ text: String) -> UInt32? { UInt32(text).flatMap { $0 == .max ? nil : $0 } }

  static func who(_ text: String, _ place: String) throws(CommandError) -> Who {
    if text == "*" { return .everybody }
    let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2 else {
      throw .usage(
        "\(place): \"\(text)\" is not a user or group", hint: "use user:NAME, group:NAME or * for everybody")
    }
    do throws(SystemError) {
      switch parts[0] {
      case "user":
        if let number = id(parts[1]) { return .user(number) }
        if let user = try Accounts.user(named: parts[1]) { return .user(user.id) }
      case "group":
        if let number = id(parts[1]) { return .group(number) }
        if let group = try Accounts.group(named: parts[1]) { return .group(group) }
      default: break
      }
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    throw .usage("\(place): there is no \(parts[0]) \(parts[1])")
  }
}

/// Whether a resource matches a pattern in which `*` stands for any text.
///
/// The comparison is byte by byte.
func matches(_ resource: String, pattern: String) -> Bool {
  let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
  let text = Array(resource.utf8)
  guard parts.count > 1, let first = parts.first, let last = parts.last else {
    return text.elementsEqual(pattern.utf8)
  }
  guard text.starts(with: first), text.count >= first.count + last.count,
    text.suffix(last.count).elementsEqual(last)
  else { return false }
  var rest = text[first.count..<(text.count - last.count)]
  for part in parts.dropFirst().dropLast() {
    guard let found = rest.firstRange(of: part) else { return false }
    rest = rest[found.upperBound...]
  }
  return true
}
