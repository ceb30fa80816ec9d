/// A message to the enabler's own task.
enum Message: Sendable {
  case setRequestor(String, services: [String]?)
  case app(AppCall)
  /// An `async` call of the app, which waits for the result.
  case asked(AppCall)
  case cancel(RequestID)
  case options(EnablerOptions)
  case credentials(Credentials)
  case signedRequestorID(String)
  case answered(CallID, ServiceAnswer, CodeTurn?)
  case timer(TimerID)
  case news(EntitlementStatus)
  /// The network has changed, so failed requests may succeed.
  ///
  /// All retry pauses end.
  case networkChanged
}
