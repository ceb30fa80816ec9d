import Administration
import CommandKit
import RegentJSON
import RegentPairing
import RegentPlatform

/// `regentctl account import`: adds accounts from a CSV file with passwords or password hashes.
enum AccountImport {
  static let command = verb(
    "import", "add accounts with passwords from a CSV file",
    details: """
      The first line names the columns: name, and password or passwordhash; household is optional. The service hashes \
      the passwords. A hash is one of another program, as in regentctl apply. A file with plain passwords must have \
      mode 0600; - is standard input.

      Every line is checked before the first account is added. Existing accounts stay as they are, so after a failure \
      you can import the same file again.
      """,
    inputs: [provider, file], example: "account import cable rooms.csv"
  ) { call, admin in
    let (path, provider) = (call[file], call[provider])
    let title = path == "-" ? "standard input" : path
    let table = try CSVTable(try await content(of: path, provider, admin), named: title)
    let unknown = table.columns.filter { !columns.contains($0) }
    guard unknown.isEmpty, table.columns.contains(Column.name) else {
      throw CommandError(
        unknown.first.map { "\(title): there is no column \"\($0)\"" } ?? "\(title) has no column \"name\"",
        hint: "the first line names the columns: \(columns.joined(separator: ","))")
    }
    if path != "-", table.columns.contains(Column.password) {
      do throws(FileError) {
        try PrivateFile.checkTarget(of: path, widest: 0o600)
      } catch {
        throw CommandError("\(title) has plain passwords: \(error.description)", hint: error.hint)
      }
    }
    let lines = try checked(table, in: title, call)
    let present = Set(try await admin.accounts(of: provider).map(\.name))
    noteNamesThatDifferInCase(lines, present, call)
    let new = lines.filter { !present.contains($0.name) }
    try await add(new, to: provider, call, admin)
    let kept = lines.filter { present.contains($0.name) }.map(\.name)
    call.say(
      "\(counted(new.count, "account")) added"
        + (kept.isEmpty ? "" : ", \(kept.count) exist already and stay as they are"),
      ["added": .integer(Int64(new.count)), "existing": .integer(Int64(kept.count))])
    guard let first = kept.first else { return }
    let names = kept.prefix(mostShown).map(\.text).joined(separator: ", ") + (kept.count > mostShown ? ", …" : "")
    call.console.note(
      "warning: these accounts keep their passwords, even if the file has others: \(names); to change one, run "
        + "regentctl account password \(provider) \(shellQuoted(first.text))")
  }

  /// The maximum number of lines or names that a message lists.
  private static let mostShown = 20

  /// Reads the file.
  ///
  /// If the arguments are swapped, the error says so.
  private static func content(
    of path: String, _ provider: ProviderID, _ admin: AdminClient
  ) async throws -> [UInt8] {
    do {
      return try wholeFile(path, limit: 16 << 20)
    } catch {
      guard path != "-", let id = ProviderID(path), try await admin.providers().contains(where: { $0.id == id }) else {
        throw error
      }
      throw CommandError.usage(
        "\(path) is a provider, not a file",
        hint: "the provider comes first: regentctl account import \(path) \(provider)")
    }
  }

  private enum Column {
    static let name = "name"
    static let password = "password"
    static let hash = "passwordhash"
    static let household = "household"
  }

  private static let columns = [Column.name, Column.password, Column.hash, Column.household]

  /// A checked line of the file.
  private struct Line {
    let number: Int
    let name: AccountName
    let password: String?
    let hash: String?
    let household: String?

    init(_ row: CSVTable.Row) throws(Mistake) {
      func refusal(_ reason: String, _ hint: String) -> Mistake {
        Mistake(line: row.line, reason: reason, hint: hint)
      }
      guard let text = row[Column.name], let name = AccountName(text) else {
        throw refusal("\"\(row[Column.name] ?? "")\" cannot be an account's name", "correct the line")
      }
      (number, self.name, password, hash) = (row.line, name, row[Column.password], row[Column.hash])
      household = row[Column.household]
      guard (password == nil) != (hash == nil) else {
        throw refusal(
          "\(name) has \(password == nil ? "no password" : "a password and a hash")",
          "fill in one of the columns password and passwordhash")
      }
      if let password, PasswordRule.isTrivial(password, for: name) {
        throw refusal(
          "the password of \(name) is too easy to guess",
          "use at least \(PasswordRule.shortest) characters, and neither the account's name nor a common word")
      }
    }
  }

  /// A line that cannot be imported.
  private struct Mistake: Error {
    let line: Int
    let reason: String
    let hint: String
  }

  /// Checks all lines, and lists all mistakes at once.
  private static func checked(_ table: CSVTable, in title: String, _ call: Invocation) throws(CommandError) -> [Line] {
    var (lines, mistakes, seen) = ([Line](), [Mistake](), [AccountName: Int]())
    for row in table.rows {
      do throws(Mistake) {
        let line = try Line(row)
        if let first = seen.updateValue(line.number, forKey: line.name) {
          throw Mistake(
            line: line.number, reason: "\(line.name) is in line \(first), too", hint: "remove one of the two")
        }
        lines.append(line)
      } catch {
        mistakes.append(error)
      }
    }
    guard let last = mistakes.popLast() else { return lines }
    // The last mistake is the error of the command, the others are printed before it.
    for mistake in mistakes.prefix(mostShown) {
      call.console.note("\(title), line \(mistake.line): \(mistake.reason); \(mistake.hint)")
    }
    if mistakes.count > mostShown { call.console.note("\(mistakes.count - mostShown) more lines have mistakes") }
    throw CommandError("\(title), line \(last.line): \(last.reason)", hint: last.hint)
  }

  /// Warns of names that differ from another name only in upper and lower case, which viewers would mix up.
  private static func noteNamesThatDifferInCase(_ lines: [Line], _ present: Set<AccountName>, _ call: Invocation) {
    let all = present.union(lines.map(\.name))
    let similar = Dictionary(grouping: all) { $0.text.lowercased() }
    for line in lines.filter({ !present.contains($0.name) }) {
      guard let other = similar[line.name.text.lowercased()]?.first(where: { $0 != line.name }) else { continue }
      call.console.note(
        "warning: \(line.name) and \(other) differ only in upper and lower case; viewers must type the name exactly")
    }
  }

  private static func add(
    _ lines: [Line], to provider: ProviderID, _ call: Invocation, _ admin: AdminClient
  ) async throws {
    let showsProgress = call.console.errors.isTerminal
    defer { if showsProgress { call.console.drawNote("\r\u{1b}[K") } }
    for (done, line) in lines.enumerated() {
      var patch = Patch<Account>()
      patch.set(.household, line.household.map(JSONValue.string))
      do throws(AdminError) {
        if let hash = line.hash {
          patch.set(.provider, .string(provider.text))
          patch.set(.name, .string(line.name.text))
          _ = try await admin.save([AccountChange(isNew: true, patch, passwordHash: hash)])
        } else {
          _ = try await admin.add(provider, line.name, patch, password: line.password)
        }
      } catch {
        throw CommandError(
          "line \(line.number): \(error.message) (\(counted(done, "account")) of \(lines.count) added)",
          hint: "correct the line, then import the same file again: it continues there")
      }
      // Each plain password takes the service a noticeable time to hash.
      if showsProgress { call.console.drawNote("\r\u{1b}[K\(done + 1) of \(lines.count) accounts") }
    }
  }

  private static let provider = Input.argument(
    "PROVIDER", identifier("ID", Names.Provider.self), "the provider's id"
  ).completedByProviders { $0.hasAccounts }
  private static let file = Input.argument("FILE", .file, "the CSV file; - is standard input")
}
