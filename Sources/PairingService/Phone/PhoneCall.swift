internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

/// One request of a browser, with the browser's identity and the cookies that the response sets.
struct PhoneCall: Sendable {
  let request: Request
  /// The parameters of the path; nil when no route accepted the request.
  let path: PathParameters?
  let query: FormParameters
  /// The form fields; empty for a GET.
  let form: FormParameters
  let cookies: Cookies
  let now: Instant
  let language: PageLanguage
  /// The browser's random id, from its cookie.
  let browserID: String
  /// The session of the signed-in viewer; nil when signed out.
  ///
  /// A sign-in or sign-out changes it for the page that is rendered next.
  var session: SessionRecord?
  /// Whether the response tells the browser to delete its cached pages, because the viewer signed out.
  var forgetsPages = false
  /// The cookies that the response sets.
  var setCookies: [SetCookie] = []

  /// A form field; the first one if it was sent several times, because this service's forms send each field once.
  func field(_ name: String) -> String { form.values(of: name).first ?? "" }

  func queried(_ name: String) -> String? {
    query.values(of: name).first.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The code in the path, in any accepted spelling.
  var code: RegistrationCode? { scanned?.code }

  /// The code in the path, with the secret of a scanned link.
  var scanned: ScannedCode? {
    path?[ifCaptured: "code"].flatMap { try? ScannedCode(typed: $0) }
  }

  /// The viewer, if an account is signed in.
  ///
  /// A guest has no account.
  var account: Viewer? { session?.viewer.account == nil ? nil : session?.viewer }
}

/// What a route responds with.
enum PhoneAnswer: Sendable {
  /// A page. `here` is the path whose GET shows it again.
  case page(any PhonePage, here: SafePath, brand: Brand? = nil)
  /// A page that sends the browser to an address outside this service.
  case leaving(LeavePage, here: SafePath)
  /// A redirect to another page of this service.
  case redirect(SafePath, Status = .seeOther)
  case response(Response)

  static func notice(
    _ kind: NoticePage.Kind, wait: Duration? = nil, retry: SafePath? = nil, brand: Brand? = nil
  ) -> PhoneAnswer {
    let seconds = wait.map { Int(max(1, ($0.wholeMilliseconds + 999) / 1000)) }
    return .page(
      NoticePage(kind, wait: seconds, retry: retry), here: retry ?? .root, brand: brand)
  }
}

/// A response, or the instruction to hold it (long poll).
enum PhoneOutcome: Sendable {
  case answer(PhoneAnswer)
  case wait(PhoneWait)
}

/// A held response.
struct PhoneWait: Sendable {
  /// The code whose changes end the wait.
  let registration: RegistrationID
  /// The maximum duration of the wait.
  let span: Duration
  /// Whether the state is still unchanged.
  let isStill: @Sendable () -> Bool
  /// Makes the response, when the state has changed or the time is up.
  let answer: @Sendable () -> Response
}

/// Ends the work of a route early with the given response.
struct PhoneStop: Error {
  let answer: PhoneAnswer

  init(_ answer: PhoneAnswer) { self.answer = answer }
}
