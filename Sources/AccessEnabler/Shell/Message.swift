/// What an app's thread hands to the enabler's own task.
enum Message: Sendable {
  case setRequestor(String, services: [String]?)
  case app(AppCall)
  case options(EnablerOptions)
  case credentials(Credentials)
  case signedRequestorID(String)
}
