internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

/// One request of a browser: what it sent, who it is, and the cookies that go back with the answer.
struct PhoneCall: Sendable {
  let request: Request
  /// What the path captured; nothing where no route took it.
  let path: PathParameters?
  let query: FormParameters
  /// The form; none on a GET.
  let form: FormParameters
  /// What the browser kept.
  let cookies: Cookies
  /// The time of this call.
  let now: Instant
  /// The language of the answer.
  let language: PageLanguage
  /// Which browser it is: its own random id.
  let browserID: String
  /// Who is signed in; a sign-in or sign-out changes it for the page that answers.
  var session: SessionRecord?
  /// Whether the browser is to forget the pages it has shown: somebody signed out.
  var forgetsPages = false
  /// What the browser is to keep from now on.
  var setCookies: [SetCookie] = []

  /// A field of the form, however often it was sent: forms of ours send each once.
  func field(_ name: String) -> String { form.values(of: name).first ?? "" }

  /// A field of the query.
  func queried(_ name: String) -> String? {
    query.values(of: name).first.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The code in the path, in whatever spelling.
  var code: RegistrationCode? { scanned?.code }

  /// The same, with the secret of a scanned link.
  var scanned: ScannedCode? {
    path?[ifCaptured: "code"].flatMap { try? ScannedCode(typed: $0) }
  }

  /// The account that is signed in; a guest has none.
  var account: Viewer? { session?.viewer.account == nil ? nil : session?.viewer }
}

/// What a browser gets.
enum PhoneAnswer: Sendable {
  /// A page; `here` is where a GET shows it again.
  case page(any PhonePage, here: SafePath, brand: Brand? = nil)
  /// A page that sends the browser on to an address outside.
  case leaving(LeavePage, here: SafePath)
  /// Another page of ours.
  case redirect(SafePath, Status = .seeOther)
  /// Anything else.
  case response(Response)

  static func notice(
    _ kind: NoticePage.Kind, wait: Duration? = nil, retry: SafePath? = nil, brand: Brand? = nil
  ) -> PhoneAnswer {
    let seconds = wait.map { Int(max(1, ($0.wholeMilliseconds + 999) / 1000)) }
    return .page(
      NoticePage(kind, wait: seconds, retry: retry), here: retry ?? .root, brand: brand)
  }
}

/// What a browser gets where it may have to wait.
enum PhoneOutcome: Sendable {
  case answer(PhoneAnswer)
  /// The answer is held until something changes.
  case wait(PhoneWait)
}

/// An answer that is held.
struct PhoneWait: Sendable {
  /// The code that is looked at.
  let registration: RegistrationID
  /// How long at most.
  let span: Duration
  /// Whether nothing has changed yet.
  let isStill: @Sendable () -> Bool
  /// The answer, when something has or the time is up.
  let answer: @Sendable () -> Response
}

/// An answer that ends what a route was about to do.
struct PhoneStop: Error {
  let answer: PhoneAnswer

  init(_ answer: PhoneAnswer) { self.answer = answer }
}
