import Administration
import CommandKit
import RegentJSON
import RegentPairing
import Synchronization

/// Signs out all boxes that match a filter, after listing them.
enum DeviceSignOut {
  /// The number of calls that are made at the same time.
  ///
  /// The service commits calls that arrive together in one transaction.
  private static let together = 16

  static func perform(
    _ filter: SignInFilter, isDry: Bool, unless yes: Input<Bool>, _ call: Invocation, _ admin: AdminClient
  ) async throws {
    let found = try await call.console.progress("looking for boxes") { try await Found(filter, admin) }
    let boxes = counted(found.boxes.count, "box", "boxes")
    let what = "\(boxes) with \(counted(found.ids.count, "sign-in"))"
    let apps = PlatformNoun.ending(found.apps, ", and with it ")
    var document: JSONObject = [
      "boxes": .integer(Int64(found.boxes.count)), "signIns": .integer(Int64(found.ids.count)), "dryRun": .bool(isDry),
      "apps": .array(
        found.apps.map { ["name": .string($0.name), "requestor": .string($0.requestor.text)] }),
    ]
    if isDry {
      let names = found.first.map { "  \(DeviceNoun.title(of: $0)) at \($0.requestor)" }
      let more = found.ids.count > names.count ? ["  and \(found.ids.count - names.count) more"] : []
      return call.show(.object(document), lines: ["would sign out \(what)\(apps)"] + names + more)
    }
    guard !found.ids.isEmpty else {
      return call.show(.object(document), lines: ["no box matches these options; nothing was signed out"])
    }
    try Prompt.confirm("sign out \(what)\(apps)", unless: yes, call)
    let ended = Atomic(0)
    do {
      try await call.console.progress("signing out \(what), \(ended.load(ordering: .relaxed)) done") {
        try await end(found.ids, Connection.admin(call, together: true)) { ended.add(1, ordering: .relaxed) }
      }
    } catch {
      let done = counted(ended.load(ordering: .relaxed), "sign-in")
      call.console.note("\(done) ended so far; run the same command again to sign out the rest")
      throw error
    }
    let count = ended.load(ordering: .relaxed)
    document["ended"] = .integer(Int64(count))
    call.show(.object(document), lines: ["\(counted(count, "sign-in")) of \(boxes) ended\(apps)"])
  }

  /// The sign-ins that were found and confirmed; later sign-ins are not affected.
  ///
  /// Keeps only two short ids of each: 15 MB for 100,000 sign-ins.
  private struct Found {
    var boxes: Set<String> = []
    var ids: [AuthenticationID] = []
    /// The first sign-ins of those found, to show them to the operator.
    var first: [SignInEntry] = []
    /// The apps that are signed in through the account of one of these boxes, and are signed out with it.
    var apps: [BoxEntry.App] = []

    init(_ filter: SignInFilter, _ admin: AdminClient) async throws {
      var own: Set<Place> = []
      _ = try await admin.signIns(filter) { page in
        own.formUnion(page.map { Place(device: $0.device, requestor: $0.requestor) })
        boxes.formUnion(page.map(\.device))
        ids += page.map(\.id)
        first += page.prefix(20 - first.count)
      }
      guard !ids.isEmpty else { return }
      for box in try await admin.boxes() where own.contains(Place(device: box.device, requestor: box.requestor)) {
        apps += box.apps
      }
    }

    private struct Place: Hashable {
      let device: String
      let requestor: RequestorID
    }
  }

  /// Ends the sign-ins, with several calls at the same time.
  ///
  /// `note` is called for each sign-in that was still active.
  private static func end(
    _ ids: [AuthenticationID], _ admin: AdminClient, _ note: @escaping @Sendable () -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var rest = ids[...]
      func begin() {
        guard let id = rest.popFirst() else { return }
        group.addTask {
          do throws(AdminError) {
            _ = try await admin.revokeToken(id)
            note()
          } catch {
            // The sign-in has ended meanwhile, or together with another one of the same box.
            guard error.code == .notFound else { throw error }
          }
        }
      }
      for _ in 0..<together { begin() }
      while try await group.next() != nil { begin() }
    }
  }
}
