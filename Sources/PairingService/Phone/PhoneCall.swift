internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

/// One request of a browser to the phone's pages, with the browser's identity and the cookies that the response sets.
struct PhoneCall: Sendable {
  let request: Request
  /// The parameters of the path; nil when the request matches no route.
  let path: PathParameters?
  let query: FormParameters
  /// The fields of the submitted form; empty for a GET.
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

  /// The value of a form field.
  ///
  /// If the field was sent several times, the first one counts, because this service's forms send each field once.
  func field(_ name: String) -> String { form.values(of: name).first ?? "" }

  func queried(_ name: String) -> String? {
    query.values(of: name).first.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The code in the request's path, in any accepted spelling.
  var code: RegistrationCode? { scanned?.code }

  /// The code in the request's path, together with the secret of a scanned link.
  var scanned: ScannedCode? {
    path?[ifCaptured: "code"].flatMap { try? ScannedCode(typed: $0) }
  }

  /// The viewer, if an account is signed in in this browser; nil for a guest.
  var account: Viewer? { session?.viewer.account == nil ? nil : session?.viewer }
}

/// The response of a route for browsers.
enum PhoneAnswer: Sendable {
  /// The response is a page.
  ///
  /// `here` is the path whose GET shows it again.
  case page(any PhonePage, here: SafePath, brand: Brand? = nil)
  /// The response is a page that sends the browser to an address outside this service.
  case leaving(LeavePage, here: SafePath)
  /// The response is a redirect to another page of this service.
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

/// A response, or the instruction to hold it as a long poll.
enum PhoneOutcome: Sendable {
  case answer(PhoneAnswer)
  case wait(PhoneWait)
}

/// A response that is held as a long poll.
struct PhoneWait: Sendable {
  /// The code whose changes end the long poll.
  let registration: RegistrationID
  /// The phone's network.
  let source: SourceKey?
  /// The maximum duration of the long poll.
  let span: Duration
  /// Whether the state is still the one that the page shows, so that the long poll continues.
  let isStill: @Sendable () -> Bool
  /// Makes the response when the state has changed or the time is up.
  let answer: @Sendable () -> Response
}

/// Thrown to end the work of a route early with the given response.
struct PhoneStop: Error {
  let answer: PhoneAnswer

  init(_ answer: PhoneAnswer) { self.answer = answer }
}
