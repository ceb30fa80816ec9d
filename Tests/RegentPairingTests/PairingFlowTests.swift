import TestSupport
import RegentPairing
import Testing

/// One line of the table: an event in a state at a time, and the expected result.
struct FlowCase: CustomTestStringConvertible, Sendable {
  let state: PairingState
  let event: PairingEvent
  var match: NumberMatch?
  var second = 10
  let result: Result

  enum Result: Sendable {
    case becomes(PairingState, [PairingAction])
    case stays
    /// The state changes in a way that no device can see.
    case quietly(PairingState)
    case refused(PairingRefusal)
  }

  var testDescription: String { "\(event) in \(state) after \(second) s" }
}

/// Every event in every state, 11 states (a claim counts four times) × 11 events, and the limits in time.
func flowTable() throws -> [FlowCase] {
  let scene = try Scene()
  let (ann, bob) = (scene.ann, scene.bob)
  let two = try name("authentication-2") as AuthenticationID
  let mine = scene.lease(ann, for: .seconds(60))
  let mineLapsed = scene.lease(ann, for: .seconds(5))
  let theirs = scene.lease(bob, for: .seconds(60))
  let theirsLapsed = scene.lease(bob, for: .seconds(5))
  let fresh = PairingState.claimed(ClaimLease(claimer: ann, until: at(10 + 120)))
  let yes = Approval(viewer: ann.viewer, authentication: two, by: .session(ann.session), at: at(10))
  let ordered = Approval(
    viewer: scene.guest, authentication: two, by: .operator(scene.carl), at: at(10))
  let no = PairingState.denied(Denial(reason: .viewer, at: at(10)))
  let open = PairingEvent.open
  let claim = PairingEvent.claim(ann)
  let renew = PairingEvent.renew(ann.session)
  let release = PairingEvent.release(ann.session)
  let approve = PairingEvent.approve(ann.session, picked: nil, as: two)
  let order = PairingEvent.approveByOperator(scene.carl, for: scene.guest, as: two)
  let deny = PairingEvent.deny(ann.session)
  let both: [PairingAction] = [.wakeDevice, .wakePhone]
  let taken = PairingRefusal.claimedByAnother(until: at(60))

  var table: [FlowCase] = []
  func line(_ state: PairingState, _ results: [(PairingEvent, FlowCase.Result)]) {
    table += results.map { FlowCase(state: state, event: $0.0, result: $0.1) }
  }
  let ordering = FlowCase.Result.becomes(
    .approved(ordered), [.createAuthentication(ordered), .wakeDevice, .wakePhone])
  let approving = FlowCase.Result.becomes(
    .approved(yes), [.createAuthentication(yes), .wakeDevice, .wakePhone])
  let withdrawals = WithdrawalReason.allCases.map {
    (PairingEvent.withdraw($0), FlowCase.Result.becomes(.withdrawn, both))
  }

  line(
    .offered,
    [
      (open, .becomes(.opened, [.wakeDevice])), (claim, .becomes(fresh, [.wakeDevice])),
      (renew, .refused(.notClaimed)), (release, .stays), (approve, .refused(.notClaimed)),
      (order, ordering), (deny, .refused(.notClaimed)), (.deliver, .refused(.notApproved)),
    ] + withdrawals)
  line(
    .opened,
    [
      (open, .stays), (claim, .becomes(fresh, [.wakeDevice])), (renew, .refused(.notClaimed)),
      (release, .stays), (approve, .refused(.notClaimed)), (order, ordering),
      (deny, .refused(.notClaimed)), (.deliver, .refused(.notApproved)),
    ] + withdrawals)
  line(
    mine,
    [
      (open, .stays), (claim, .quietly(fresh)), (renew, .quietly(fresh)),
      (release, .becomes(.opened, [.wakeDevice])), (approve, approving), (order, ordering),
      (deny, .becomes(no, both)), (.deliver, .refused(.notApproved)),
    ] + withdrawals)
  line(
    mineLapsed,
    [
      (open, .stays), (claim, .becomes(fresh, [.wakeDevice])), (renew, .refused(.leaseLapsed)),
      (release, .becomes(.opened, [.wakeDevice])), (approve, .refused(.leaseLapsed)),
      (order, ordering), (deny, .refused(.leaseLapsed)), (.deliver, .refused(.notApproved)),
    ] + withdrawals)
  line(
    theirs,
    [
      (open, .stays), (claim, .refused(taken)), (renew, .refused(.notTheClaimer)),
      (release, .refused(.notTheClaimer)), (approve, .refused(.notTheClaimer)), (order, ordering),
      (deny, .refused(.notTheClaimer)), (.deliver, .refused(.notApproved)),
    ] + withdrawals)
  line(
    theirsLapsed,
    [
      (open, .stays), (claim, .becomes(fresh, [.wakeDevice])), (renew, .refused(.notTheClaimer)),
      (release, .refused(.notTheClaimer)), (approve, .refused(.notTheClaimer)), (order, ordering),
      (deny, .refused(.notTheClaimer)), (.deliver, .refused(.notApproved)),
    ] + withdrawals)

  // Final states: the second list says what the device and the operator may still do; all else is refused with the
  // reason.
  let decided: [(PairingState, PairingRefusal, deliver: FlowCase.Result)] = [
    (
      .approved(scene.approval), .alreadyApproved,
      .becomes(.delivered(scene.approval, at: at(10)), [.wakePhone])
    ),
    (.delivered(scene.approval, at: at(6)), .alreadyApproved, .stays),
    (.denied(Denial(reason: .wrongNumber, at: at(6))), .denied, .refused(.denied)),
  ]
  for (state, reason, deliver) in decided {
    line(
      state,
      [open, claim, renew, release, approve, order, deny].map { ($0, .refused(reason)) } + [
        (.deliver, deliver), (.withdraw(.newerCode), .refused(reason)),
        (.withdraw(.device), .becomes(.withdrawn, both)),
        (.withdraw(.operator), .becomes(.withdrawn, both)),
      ])
  }
  let gone: [(PairingState, PairingRefusal, FlowCase.Result)] = [
    (.expired, .expired, .refused(.expired)), (.withdrawn, .withdrawn, .stays),
  ]
  for (state, reason, withdraw) in gone {
    line(
      state,
      [open, claim, renew, release, approve, order, deny, .deliver].map { ($0, .refused(reason)) }
        + WithdrawalReason.allCases.map { (.withdraw($0), withdraw) })
  }
  // In time: a pending code accepts no event from its expiry on.
  for state in [.offered, .opened, scene.lease(ann, for: .seconds(4000))] {
    for event in [open, claim, renew, release, approve, order, deny, .deliver, .withdraw(.device)] {
      table.append(FlowCase(state: state, event: event, second: 1800, result: .refused(.expired)))
    }
  }
  table.append(
    FlowCase(
      state: .approved(scene.approval), event: .deliver, second: 4000,
      result: .becomes(.delivered(scene.approval, at: at(4000)), [.wakePhone])))
  return table
}

func matchTable() throws -> [FlowCase] {
  let scene = try Scene()
  let match = NumberMatch(number: 42)
  let mine = scene.lease(scene.ann, for: .seconds(60))
  func pick(_ number: Int?) -> PairingEvent {
    .approve(scene.ann.session, picked: number, as: scene.first)
  }
  let yes = Approval(
    viewer: scene.ann.viewer, authentication: scene.first, by: .session(scene.ann.session),
    at: at(10))
  let ordered = Approval(
    viewer: scene.guest, authentication: scene.first, by: .operator(scene.carl), at: at(10))
  let wrong = FlowCase.Result.becomes(
    .denied(Denial(reason: .wrongNumber, at: at(10))), [.wakeDevice, .wakePhone])
  return [
    FlowCase(
      state: mine, event: pick(42), match: match,
      result: .becomes(.approved(yes), [.createAuthentication(yes), .wakeDevice, .wakePhone])),
    FlowCase(state: mine, event: pick(17), match: match, result: wrong),
    FlowCase(state: mine, event: pick(0), match: match, result: wrong),
    FlowCase(state: mine, event: pick(nil), match: match, result: .refused(.numberMissing)),
    // Picking a number in another session neither approves nor denies.
    FlowCase(
      state: scene.lease(scene.bob, for: .seconds(60)), event: pick(17), match: match,
      result: .refused(.notTheClaimer)),
    FlowCase(
      state: mine, event: .approveByOperator(scene.carl, for: scene.guest, as: scene.first),
      match: match,
      result: .becomes(
        .approved(ordered), [.createAuthentication(ordered), .wakeDevice, .wakePhone])),
    // Without number matching a picked number is ignored.
    FlowCase(
      state: mine, event: pick(7),
      result: .becomes(.approved(yes), [.createAuthentication(yes), .wakeDevice, .wakePhone])),
  ]
}

@Suite struct `State machine of a registration code` {
  @Test func `the table of code transitions has every event in every state`() throws {
    #expect(try flowTable().count == 11 * 11 + 27 + 1)
  }

  @Test(arguments: try flowTable() + matchTable())
  func `every event in every state of a code has the result in the table of transitions`(line: FlowCase) throws {
    let scene = try Scene()
    let before = scene.flow(line.state, match: line.match)
    switch line.result {
    case .becomes(let state, let actions):
      let step = try before.applying(line.event, at: at(line.second))
      #expect(step.flow.state == state)
      #expect(step.actions == actions)
      #expect(step.flow.sequence == before.sequence + 1)
    case .quietly(let state):
      let step = try before.applying(line.event, at: at(line.second))
      #expect(step.flow.state == state)
      #expect(step.actions.isEmpty)
      #expect(step.flow.sequence == before.sequence)
    case .stays:
      let step = try before.applying(line.event, at: at(line.second))
      #expect(step.flow == before)
      #expect(step.actions.isEmpty)
    case .refused(let reason):
      #expect(throws: reason) { try before.applying(line.event, at: at(line.second)) }
    }
  }

  @Test func `a code expires in the millisecond of its expiry and its sequence number rises by one`() throws {
    let scene = try Scene()
    let flow = scene.flow(.opened)
    #expect(flow.settled(at: Instant(milliseconds: flow.expires.milliseconds - 1)) == flow)
    #expect(flow.status(at: flow.expires) == .expired)
    #expect(flow.settled(at: flow.expires).sequence == flow.sequence + 1)
    // Settling twice has the same result as settling once, so that every process sees the same sequence number.
    #expect(flow.settled(at: at(9000)).settled(at: at(9999)).sequence == flow.sequence + 1)
  }

  @Test func `a session that signs in as another viewer keeps its claim, for the new viewer`()
    throws
  {
    let scene = try Scene()
    let other = Claimer(session: scene.ann.session, viewer: scene.bob.viewer)
    let before = scene.flow(scene.lease(scene.ann, for: .seconds(60)))
    let step = try before.applying(.claim(other), at: at(10))
    #expect(step.flow.state == .claimed(ClaimLease(claimer: other, until: at(130))))
    #expect(step.flow.sequence == before.sequence + 1)
  }

  @Test func `a code whose claim has expired is shown as opened`() throws {
    let scene = try Scene()
    let flow = scene.flow(scene.lease(scene.ann, for: .seconds(60)))
    #expect(flow.status(at: at(59)) == .claimed)
    #expect(flow.status(at: at(60)) == .opened)
  }

  @Test func `the number to match is visible from the phone's connection until the decision`() throws {
    let scene = try Scene()
    let match = NumberMatch(number: 42)
    #expect(scene.flow(.offered, match: match).visibleMatch(at: at(1)) == nil)
    #expect(scene.flow(.opened, match: match).visibleMatch(at: at(1)) == match)
    let claimed = scene.lease(scene.ann, for: .seconds(60))
    #expect(scene.flow(claimed, match: match).visibleMatch(at: at(1)) == match)
    #expect(scene.flow(.approved(scene.approval), match: match).visibleMatch(at: at(6)) == nil)
    #expect(scene.flow(.opened, match: match).visibleMatch(at: at(1800)) == nil)
  }

  @Test func `every two-digit number is drawn equally often, and only two digits are accepted as typed`() {
    var generator = SeededGenerator(state: 4)
    var drawn: [Int: Int] = [:]
    for _ in 0..<90_000 { drawn[NumberMatch(drawnFrom: &generator).number, default: 0] += 1 }
    #expect(drawn.keys.sorted() == Array(10...99))
    #expect(drawn.values.allSatisfy { (850...1150).contains($0) })
    #expect(NumberMatch(number: 9) == nil && NumberMatch(number: 100) == nil)
    #expect(NumberMatch.typed("42") == 42 && NumberMatch.typed(" 4 2 ") == 42)
    for text in ["", "7", "07", "-7", "+7", "100", "4a", "٤٢"] { #expect(NumberMatch.typed(text) == nil, "\(text)") }
  }
}

@Suite struct `Random histories of a registration code` {
  /// Rules that hold after every sequence of events.
  @Test(arguments: 0..<200)
  func `a random history approves a code at most once and only before its expiry`(seed: Int)
    throws
  {
    let scene = try Scene()
    var generator = SeededGenerator(state: UInt64(seed))
    let match = seed.isMultiple(of: 2) ? NumberMatch(drawnFrom: &generator) : nil
    let lifetime = try #require(CodeLifetime(asked: Int.random(in: 30...900, using: &generator)))
    var flow = PairingFlow(issued: scene.start, lifetime: lifetime, match: match)
    var now = scene.start
    var approvals = 0
    for step in 0..<120 {
      now = now + .seconds(Int.random(in: 0...20, using: &generator))
      let claimer = [scene.ann, scene.bob].randomElement(using: &generator) ?? scene.ann
      let event = try randomEvent(scene, claimer, flow, step, &generator)
      let before = flow
      do throws(PairingRefusal) {
        let result = try before.applying(event, at: now)
        flow = result.flow
        approvals += result.actions.count {
          if case .createAuthentication = $0 { true } else { false }
        }
        check(before, result, event, now)
      } catch {
        // A refusal changes nothing.
      }
      #expect(flow.sequence >= before.sequence)
    }
    #expect(approvals <= 1)
    #expect(flow.issued == scene.start && flow.expires == scene.start + lifetime.span)
  }

  private func check(
    _ before: PairingFlow, _ result: PairingStep, _ event: PairingEvent, _ now: Instant
  ) {
    let after = result.flow
    if after.state.status != before.settled(at: now).state.status {
      #expect(after.sequence > before.sequence, "a visible change must raise the sequence number")
    }
    if before.state.approval == nil, let approval = after.state.approval {
      #expect(now < before.expires, "nothing is approved after the expiry")
      #expect(before.state.isPending, "nothing that was denied or withdrawn is approved")
      if case .approve(let session, let picked, _) = event {
        guard case .claimed(let lease) = before.state else {
          Issue.record("approved without a claim")
          return
        }
        #expect(lease.claimer.session == session && lease.until > now)
        #expect(approval.viewer == lease.claimer.viewer)
        #expect(before.match == nil || picked == before.match?.number)
      }
    }
    if let earlier = before.state.approval, let later = after.state.approval {
      #expect(earlier == later, "an approval must never change")
    }
    if !before.state.isPending { #expect(!after.state.isPending, "a final state must stay final") }
  }

  private func randomEvent(
    _ scene: Scene, _ claimer: Claimer, _ flow: PairingFlow, _ step: Int,
    _ generator: inout SeededGenerator
  ) throws -> PairingEvent {
    let authentication = try name("authentication-\(step)") as AuthenticationID
    let numbers: [Int?] = flow.match.map { [$0.number, 10, 99] } ?? []
    let picked = (numbers + [nil]).randomElement(using: &generator) ?? nil
    switch Int.random(in: 0..<40, using: &generator) {
    case 0..<8: return .open
    case 8..<18: return .claim(claimer)
    case 18..<22: return .renew(claimer.session)
    case 22..<26: return .release(claimer.session)
    case 26..<32: return .approve(claimer.session, picked: picked, as: authentication)
    case 32..<33: return .approveByOperator(scene.carl, for: scene.guest, as: authentication)
    case 33..<34: return .deny(claimer.session)
    case 34..<35:
      return .withdraw(WithdrawalReason.allCases.randomElement(using: &generator) ?? .device)
    default: return .deliver
    }
  }
}

@Suite struct `Answers to a waiting device` {
  @Test func `a device is told the state of its code, and some time after the code ended that it is unknown`() throws {
    let scene = try Scene()
    let denied = scene.flow(.denied(Denial(reason: .viewer, at: at(3))))
    let table: [(PairingFlow, Int, DeviceAnswer)] = [
      (scene.flow(.offered), 0, .pending), (scene.flow(.opened), 1799, .pending),
      (scene.flow(scene.lease(scene.ann, for: .seconds(9))), 100, .pending),
      (scene.flow(.offered), 1800, .expired), (scene.flow(.offered), 2399, .expired),
      (scene.flow(.offered), 2400, .unknown),
      (scene.flow(.approved(scene.approval)), 6, .approved(scene.approval)),
      (scene.flow(.approved(scene.approval)), 1801, .approved(scene.approval)),
      (scene.flow(.delivered(scene.approval, at: at(7))), 8, .approved(scene.approval)),
      (denied, 4, .denied), (denied, 1799, .denied), (denied, 1800, .unknown),
      (scene.flow(.withdrawn), 4, .unknown), (scene.flow(.expired), 1801, .expired),
    ]
    for (flow, second, answer) in table {
      #expect(DeviceAnswer(flow, at: at(second)) == answer, "\(flow.state) after \(second) s")
    }
  }

  @Test func `a long poll is held only while the code can still change`() throws {
    let scene = try Scene()
    let flow = scene.flow(.offered)
    let table: [(Int, Int?, PairingFlow?, Int, WaitPlan)] = [
      (30, nil, flow, 0, .park(sequence: 5, span: .seconds(30))),
      (30, 5, flow, 0, .park(sequence: 5, span: .seconds(30))),
      (300, 5, flow, 0, .park(sequence: 5, span: .seconds(55))),
      (55, 5, flow, 1790, .park(sequence: 5, span: .seconds(10))),
      (30, 4, flow, 0, .answer), (30, 6, flow, 0, .answer), (0, nil, flow, 0, .answer),
      (-1, nil, flow, 0, .answer), (30, nil, nil, 0, .answer), (30, 5, flow, 1800, .answer),
      (30, 5, scene.flow(.withdrawn), 0, .answer),
      (30, 5, scene.flow(.approved(scene.approval)), 6, .answer),
    ]
    for (seconds, after, flow, second, plan) in table {
      #expect(WaitPlan(seconds: seconds, after: after, flow: flow, at: at(second)) == plan)
    }
  }

  @Test func `a long poll ends up to an eighth early, except when the code expires first`() throws {
    let scene = try Scene()
    let flow = scene.flow(.offered)
    var generator = SeededGenerator(state: 7)
    let drawn = (0..<1_000).map { _ in WaitPlan.sooner(48, drawnFrom: &generator) }
    let earliest = try #require(drawn.max())
    #expect(earliest <= .seconds(6) && earliest > .seconds(5))
    #expect(drawn.contains { $0 < .seconds(1) })
    #expect(WaitPlan.sooner(0, drawnFrom: &generator) == .zero)
    #expect(
      WaitPlan(seconds: 48, after: 5, flow: flow, at: at(0), sooner: .seconds(6))
        == .park(sequence: 5, span: .seconds(42)))
    // The code's expiry is reported at once.
    #expect(
      WaitPlan(seconds: 48, after: 5, flow: flow, at: at(1790), sooner: .seconds(6))
        == .park(sequence: 5, span: .seconds(10)))
  }
}
