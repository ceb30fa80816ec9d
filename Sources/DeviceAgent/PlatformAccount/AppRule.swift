import CommandKit
import RegentPairing
import RegentPairingWire
import RegentPlatform

/// A line of `agent.conf` that defines an app which may use the box's shared account (the platform account).
///
///     app = NAME user:kodi requestor:acme socket:NAME
///
/// The caller must match the user, the group and the socket that the line names; `requestor:` may repeat. An app is
/// never identified by its executable: the daemon cannot read the executable of another user's process, add-ons share
/// one, and process ids are reused.
struct AppRule: Sendable, Equatable {
  let name: String
  private(set) var user: UInt32?
  private(set) var group: UInt32?
  private(set) var requestors: [String] = []
  /// The name of the socket that only this app may use.
  private(set) var socket: String?

  /// The maximum number of app lines in a settings file.
  ///
  /// A box needs far fewer.
  static let most = 256

  init(parsing text: String, in place: String) throws(CommandError) {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let name = words.first, PlatformApp.isName(name) else {
      throw .usage(
        "\(place): app \"\(harmless(text))\" does not begin with a name",
        hint: "use at most 64 letters, digits, dots, dashes and underscores: app = kodi user:kodi requestor:ID")
    }
    self.name = name
    for word in words.dropFirst() {
      let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let value = parts.count == 2 ? parts[1] : ""
      switch parts[0] {
      case "user" where user == nil, "group" where group == nil:
        switch try AllowRule.who(word, place) {
        case .user(let id): user = id
        case .group(let id): group = id
        case .everybody: break
        }
      case "requestor" where RequestorID(value) != nil: requestors.append(value)
      case "socket" where socket == nil && PlatformApp.isName(value): socket = value
      default:
        throw .usage(
          "\(place): app \(name): \"\(harmless(word))\" is unknown or given twice",
          hint: "use the form app = \(name) user:kodi requestor:ID socket:\(name)")
      }
    }
    guard user != nil || group != nil || socket != nil else {
      throw .usage(
        "\(place): app \(name) has no user, group or socket", hint: "add user:NAME, group:NAME or socket:\(name)")
    }
    guard !requestors.isEmpty else {
      throw .usage(
        "\(place): app \(name) has no requestor", hint: "add requestor:ID, the id that the app signs in with")
    }
  }
}

extension AppRule {
  /// Parses all app lines of a settings file.
  ///
  /// Refuses a line that no program could match, or whose programs all match an earlier line.
  static func all(
    _ lines: [(text: String, place: String)], overflow: Set<UInt32>? = nil
  ) throws(CommandError) -> [AppRule] {
    guard lines.count <= most else {
      throw .usage(
        "\(lines[most].place): there are more than \(most) lines \"app = …\"", hint: "remove some of the lines")
    }
    guard !lines.isEmpty else { return [] }
    let overflow = overflow ?? AppBook.overflowIDs()
    var rules: [AppRule] = []
    for (text, place) in lines {
      let rule = try AppRule(parsing: text, in: place)
      if rule.user.map(overflow.contains) ?? false || rule.group.map(overflow.contains) ?? false {
        throw .usage(
          "\(place): app \(rule.name) uses the overflow user or group, as which the kernel shows every unknown one",
          hint: "create a user for the app: adduser --system \(rule.name)")
      }
      for (number, earlier) in rules.enumerated() where earlier.name != rule.name {
        guard let requestor = earlier.hides(rule) else { continue }
        throw .usage(
          "\(place): a program that matches app \(rule.name) for \(harmless(requestor)) already matches app \(earlier.name), "
            + lines[number].place,
          hint: "give each app its own user, group or socket, or put the more specific line first")
      }
      rules.append(rule)
    }
    return rules
  }

  /// A requestor for which this line matches every program that the `later` line matches, so that the later line would
  /// have no effect; nil if there is none.
  private func hides(_ later: AppRule) -> String? {
    guard socket == later.socket, user == nil || user == later.user, group == nil || group == later.group else {
      return nil
    }
    return later.requestors.first { requestor in requestors.contains { $0.utf8.elementsEqual(requestor.utf8) } }
  }
}

/// Identifies which local programs are apps of the box's shared account.
struct AppBook: Sendable {
  let rules: [AppRule]
  /// The ids that the kernel shows for users and groups outside of this process's user namespace.
  ///
  /// A program with such an id is never an app, because the id stands for many users.
  private let overflow: Set<UInt32>

  init(_ rules: [AppRule], overflow: Set<UInt32> = AppBook.overflowIDs()) {
    self.rules = rules
    self.overflow = overflow
  }

  /// The names of the sockets that belong to one app each.
  var sockets: [String] { Set(rules.compactMap(\.socket)).sorted() }

  /// The name of the app that the calling program is for a requestor, by the first matching line of `agent.conf`.
  ///
  /// On an app's own socket only the lines with that socket count, and on the common socket only the lines without one.
  func app(of caller: UnixCredentials, on socket: String?, requestor: String) -> String? {
    guard !overflow.contains(caller.user) else { return nil }
    return rules.first { rule in
      guard rule.socket == socket, rule.requestors.contains(where: { $0.utf8.elementsEqual(requestor.utf8) }) else {
        return false
      }
      if let user = rule.user, user != caller.user { return false }
      if let group = rule.group, overflow.contains(group) || !caller.isMember(of: group) { return false }
      return true
    }?.name
  }

  /// Whether any app line matches the calling program, for whatever requestor.
  func knows(_ caller: UnixCredentials, on socket: String?) -> Bool {
    rules.contains { rule in
      rule.requestors.first.map { app(of: caller, on: socket, requestor: $0) == rule.name } ?? false
    }
  }

  /// The ids that the kernel shows for unknown users: the usual id, and the kernel's setting if the sandbox allows
  /// reading it.
  static func overflowIDs() -> Set<UInt32> {
    var ids: Set<UInt32> = [65_534]
    for name in ["overflowuid", "overflowgid"] {
      let bytes = (try? DurableFile.read("/proc/sys/kernel/\(name)", limit: 32, widest: nil)) ?? []
      if let id = UInt32(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)) { ids.insert(id) }
    }
    return ids
  }
}
