import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// Signing many boxes out: those that a filter names, looked at first.
enum DeviceSignOut {
  /// Calls at a time: the service writes those that come together in one go.
  private static let together = 16

  static func perform(
    _ filter: DeviceFilter, isDry: Bool, unless yes: Input<Bool>, _ call: Invocation, _ admin: AdminClient
  ) async throws {
    var signIns: [SignIn] = []
    _ = try await filter.read(admin) { signIns += $0 }
    let boxes = Set(signIns.map(\.device)).count
    let what = "\(boxes) box\(boxes == 1 ? "" : "es") with \(counted(signIns.count, "sign-in"))"
    var document: JSONObject = [
      "boxes": .integer(Int64(boxes)), "signIns": .integer(Int64(signIns.count)), "dryRun": .bool(isDry),
    ]
    if isDry {
      let names = signIns.prefix(20).map { "  \(DeviceNoun.title(of: $0)) at \($0.requestor)" }
      let more = signIns.count > names.count ? ["  and \(signIns.count - names.count) more"] : []
      return call.show(.object(document), lines: ["would sign out \(what)"] + names + more)
    }
    guard !signIns.isEmpty else {
      return call.show(.object(document), lines: ["nobody is signed in there"])
    }
    try Prompt.confirm("sign out \(what)", unless: yes, call)
    let ids = signIns.map(\.id)
    let ended = try await call.console.progress("signing out \(what)") { try await end(ids, admin) }
    document["ended"] = .integer(Int64(ended))
    call.show(.object(document), lines: ["\(counted(ended, "sign-in")) of \(boxes) box\(boxes == 1 ? "" : "es") ended"])
  }

  /// - Returns: how many were still there.
  private static func end(_ ids: [AuthenticationID], _ admin: AdminClient) async throws -> Int {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      var (ended, rest) = (0, ids[...])
      func begin() {
        guard let id = rest.popFirst() else { return }
        group.addTask {
          do throws(AdminError) {
            _ = try await admin.revokeToken(id)
            return true
          } catch {
            // It went by itself meanwhile, or with another one of the same box.
            guard error.code == .notFound else { throw error }
            return false
          }
        }
      }
      for _ in 0..<together { begin() }
      while let wasThere = try await group.next() {
        if wasThere { ended += 1 }
        begin()
      }
      return ended
    }
  }
}
