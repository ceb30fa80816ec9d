import Administration
import CommandKit
import RegentPairing

/// What the first box gets so that it can call.
enum FirstBox: String, CaseIterable {
  /// An enrolment code, for which the box gets a key pair of its own.
  case code
  /// A key pair that somebody writes into the box's settings.
  case key
  case none

  /// What was asked for, or what somebody at the terminal wants; elsewhere a key pair, as long as there is none.
  init(wantsCode: Bool, for requestor: RequestorID, _ call: Invocation, _ admin: AdminClient) async throws {
    if wantsCode {
      self = .code
      return
    }
    let canCall = try await admin.keys(of: requestor).contains { $0.purpose == "calls" && $0.state == "active" }
    guard call.canAsk else {
      self = canCall ? .none : .key
      return
    }
    let isInvited = try await admin.invitations().contains { $0.requestor == requestor }
    self = try Prompt.answer(
      "connect the first box: code (type a one-time code there; recommended), key (copy a key pair), or none (later)",
      usual: (canCall || isInvited ? Self.none : .code).rawValue, orGive: "--invite", call
    ) { word throws(CommandError) in
      guard let wanted = Self(rawValue: word) else {
        throw .usage("\(word) is not one of the answers", hint: "type code, key or none")
      }
      return wanted
    }
  }
}
