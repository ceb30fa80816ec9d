/// What is handed to the enabler's own task.
enum Message: Sendable {
  case setRequestor(String, services: [String]?)
  case app(AppCall)
  /// The same from somebody who waits for its end.
  case asked(AppCall)
  case cancel(RequestID)
  case options(EnablerOptions)
  case credentials(Credentials)
  case signedRequestorID(String)
  case answered(CallID, ServiceAnswer, CodeTurn?)
  case timer(TimerID)
  case news(EntitlementStatus)
  /// What failed may succeed now: pauses are over.
  case networkChanged
}
