internal import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import RegentPairingWire

/// What a box reports about one of its apps: the viewer's decision, or that the app waits for one.
struct ReportedDecision: Sendable {
  let app: String
  let requestor: RequestorID
  /// The viewer's decision; nil if the app waits for one.
  let decision: AppDecision?
  /// How long ago the viewer decided.
  ///
  /// A box that was offline reports a decision later. It sends an age and not a time, so its clock need not be right.
  let age: Duration
  /// The signed text that has the report; nil in the form of version 0.1.0, which is not signed.
  let signed: UsedText?

  /// Reads the form fields of a box of version 0.1.0.
  init(_ call: V1Call) throws(CallError) {
    let (app, requestor) = (
      try call.parameters.required(Field.app), try call.parameters.required(Field.appRequestor)
    )
    var age: Int64 = 0
    if let text = try call.parameters.value(Field.decisionAge) { age = Int64(text) ?? -1 }
    try self.init(app, requestor, try call.parameters.required(Field.permission), age, nil, call)
  }

  /// Reads the text that a box has signed with the key of its sign-in.
  init(_ text: String, by box: BoxRecord?, _ call: V1Call, at now: Instant) throws(CallError) {
    guard let box, let key = try? VerifyingKey(spki: box.key), key.algorithm == .edDSA,
      let word = try? UnverifiedJWS(text, longest: PlatformDecision.longest),
      let verified = try? word.verified(with: key), verified.isType(PlatformDecision.type),
      let claims = try? verified.claims(), let decision = PlatformDecision(claims),
      decision.box.utf8.elementsEqual(box.id.text.utf8)
    else { throw CallError(.forbidden, details: "the decision is not signed with the key of the box's sign-in") }
    guard decision.isFresh(at: now) else {
      throw CallError(.forbidden, details: "the decision was signed too long ago, or the box's clock is wrong")
    }
    try self.init(
      decision.app, decision.requestor, decision.permission, decision.age.wholeMilliseconds,
      UsedText(decision: decision.id, of: box.id, ends: decision.expires), call)
  }

  private init(
    _ app: String, _ requestor: String, _ permission: String, _ age: Int64, _ signed: UsedText?, _ call: V1Call
  ) throws(CallError) {
    guard PlatformApp.isName(app) else {
      throw CallError(.badRequest, details: "\(Field.app) must be the name of an app of the box")
    }
    guard let id = RequestorID(requestor), call.provisioned.requestor(id) != nil else {
      throw CallError(.badRequest, details: "\(Field.appRequestor) must be a requestor of this service")
    }
    decision = AppDecision(rawValue: permission)
    guard decision != nil || permission == "asked" else {
      throw CallError(.badRequest, details: "\(Field.permission) must be granted, denied, undetermined or asked")
    }
    guard age >= 0, age < 1 << 53 else {
      throw CallError(.badRequest, details: "\(Field.decisionAge) must be a number of milliseconds")
    }
    (self.app, self.requestor, self.age, self.signed) = (app, id, .milliseconds(age), signed)
  }

  func record(of device: DeviceHash, at now: Instant) -> PlatformPermissionRecord {
    let never = PlatformPermissionRecord.neverDecided
    // The decision's time must be after `neverDecided`, the time of an app's question; otherwise the decision would
    // not replace the question.
    let decided = decision == nil ? never : max(now - age, never + .milliseconds(1))
    return PlatformPermissionRecord(
      device: device, app: app, requestor: requestor, isGranted: decision?.isGranted, decided: decided)
  }
}
