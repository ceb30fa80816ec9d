import Administration
import CommandKit
import RegentPairing

/// How setup connects the first box.
enum FirstBox: String, CaseIterable {
  /// The first box is set up with an enrolment code, for which it gets its own key pair.
  case code
  /// The first box is set up with a key pair that the operator copies into its settings.
  case key
  case none

  /// Chooses how to set up the first box: by option, or by a question at the terminal.
  ///
  /// In scripts the default is a key pair, unless the requestor already has one.
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
