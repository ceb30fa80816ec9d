/// What is handed to the enabler's own task.
enum Message: Sendable {
  case setRequestor(String, services: [String]?)
  case app(AppCall)
  case cancel(RequestID)
  case options(EnablerOptions)
  case credentials(Credentials)
  case signedRequestorID(String)
  case answered(CallID, ServiceAnswer)
  case timer(TimerID)
  case news(EntitlementStatus)
}
