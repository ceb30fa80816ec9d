import RegentOAuth
import RegentPairing
import PairingService

/// One state of a page: its name, and how to render it in any language.
struct Sample: Sendable {
  let name: String
  let frame: @Sendable (PageLanguage) -> PageFrame
  let render: @Sendable (PhonePages, PageFrame) -> [UInt8]

  init(
    _ name: String, _ page: some PhonePage,
    _ change: @escaping @Sendable (inout PageFrame) -> Void = { _ in }
  ) {
    self.name = name
    frame = { language in
      var frame = PageFrame(
        language: language, now: now, formToken: "3f9c1d5b7a", here: .root)
      change(&frame)
      return frame
    }
    render = { pages, frame in pages.render(page, in: frame) }
  }
}

let now = Instant(milliseconds: 1_795_174_200_000)

func ago(minutes: Int64) -> Instant {
  Instant(milliseconds: now.milliseconds - minutes * 60_000)
}

func bar(_ seconds: Int64 = 462) -> CodeBar? {
  (try? RegistrationCode(typed: "BCDFGHJK")).map {
    CodeBar(
      code: $0, expires: Instant(milliseconds: now.milliseconds + seconds * 1000),
      now: now)
  }
}

let sampleColors = ["e4b400", "d6336c", "12110f", "fefefe", "7c8a00"].compactMap {
  AccentColor(hex: $0)
}

let sampleLogos = [
  "cinema":
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 40 40\"><rect width=\"40\" height=\"40\" fill=\"#e4b400\"/><circle cx=\"20\" cy=\"20\" r=\"11\" fill=\"#12110f\"/></svg>",
  "aurora":
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 40 40\"><rect width=\"40\" height=\"40\" fill=\"#2746c2\"/><path d=\"M20 8 32 32H8z\" fill=\"#fff\"/></svg>",
]

func logo(_ name: String) -> SafePath { SafePath(["logo"]).step("\(name).svg") }

let cinema = Brand(
  name: ForeignText("Cinema Aperto"), logo: logo("cinema"), accent: AccentColor(hex: "e4b400"))
let aurora = Brand(name: ForeignText("Aurora TV"), logo: logo("aurora"))
let viewer = ViewerLabel(name: ForeignText("anna.rossi"), provider: ForeignText("Aurora TV"))

let providerNames = [
  "Bell’Italia Fibra", "Canal Ñandú", "Delta+ Digital", "Élite Télé", "Fjord Kabel",
  "Grupo Horizonte", "한빛 미디어", "Isola Web TV", "Kabel Donau", "Lumen", "נווה מדבר",
  "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesellschaft",
]

func choices(_ names: some Sequence<String>) -> [ProviderChoice] {
  names.map { ProviderChoice(id: $0, brand: Brand(name: ForeignText($0))) }
}

let hostileName = ForeignText(
  "<script>alert(1)</script>\u{202E}gnp.\u{200B}\"' onerror=x &amp; 😀\u{0}\n")

@Sendable func inFlow(_ frame: inout PageFrame) {
  frame.brand = cinema
}

@Sendable func signedIn(_ frame: inout PageFrame) {
  frame.viewer = viewer
}

@Sendable func both(_ frame: inout PageFrame) {
  frame.brand = cinema
  frame.viewer = viewer
}

let apps = [
  ScreenApp(name: ForeignText("kodi"), company: cinema.name),
  ScreenApp(name: ForeignText("jellyfin-media-player"), company: ForeignText("Lumen Kids")),
]

let appChoices = [
  AppChoice(app: "kodi", requestor: "acme", company: cinema.name, permission: .granted),
  AppChoice(app: "jellyfin-media-player", requestor: "lumen", company: hostileName, permission: .denied),
  AppChoice(app: "video", requestor: "news", company: ForeignText("Lumen Kids"), permission: .undetermined),
]

let screens = [
  Screen(
    id: "a1", name: ForeignText("Living room"), model: ForeignText("Raspberry Pi 5"),
    app: cinema.name, lastUse: ago(minutes: 0), since: ago(minutes: 4), apps: apps, holdsApps: true),
  Screen(
    id: "b2", name: ForeignText("מסך בחדר השינה"), model: ForeignText(""), app: cinema.name,
    lastUse: ago(minutes: 190), since: ago(minutes: 3 * 1440), isProgram: true),
  Screen(
    id: "c3", name: hostileName, model: ForeignText("X86 Box"), app: ForeignText("Lumen Kids"),
    lastUse: ago(minutes: 60), since: ago(minutes: 400 * 1440)),
]

let samples: [Sample] = flowSamples() + otherSamples()

func flowSamples() -> [Sample] {
  guard let bar = bar(), let short = (try? RegistrationCode(typed: "BCDFGHJK")),
    let last = PreviewBars.nearlyOver
  else { return [] }
  var samples = [
    Sample("enter-code", EnterCodePage()),
    Sample("enter-code-signed-in", EnterCodePage(), signedIn),
    Sample("enter-code-plain-http", EnterCodePage(), { $0.isPlainHTTP = true }),
    Sample("scanned-code", ScannedCodePage(ScannedCode(short, nil))),
    Sample(
      "choose-provider",
      ChooseProviderPage(
        bar: bar, chosen: ProviderChoice(id: "aurora", brand: aurora),
        featured: choices(["Lumen", "Canal Ñandú"]), others: choices(providerNames)), inFlow),
    Sample(
      "choose-provider-few", ChooseProviderPage(bar: bar, others: choices(providerNames.prefix(2))),
      inFlow),
    Sample(
      "choose-provider-search",
      ChooseProviderPage(
        bar: bar, query: "<b>ka", others: choices(["Fjord Kabel", "Kabel Donau"]), hidden: 1),
      inFlow),
    Sample(
      "choose-provider-no-match", ChooseProviderPage(bar: nil, query: "\u{202E}zzz", others: [])),
    Sample("choose-provider-none", ChooseProviderPage(bar: bar, others: []), inFlow),
    Sample(
      "sign-in", SignInPage(bar: bar, provider: "aurora", brand: aurora, hasOthers: true), inFlow),
    Sample(
      "sign-in-alone",
      SignInPage(
        bar: nil, provider: "aurora", brand: aurora, returnTo: PagePaths.screens, hasOthers: false)),
    Sample(
      "approve",
      ApprovePage(
        bar: bar, deviceName: ForeignText("Living room"),
        deviceModel: ForeignText("Raspberry Pi 5"),
        network: .same, asked: ago(minutes: 2), hasOthers: true), both),
    Sample(
      "approve-hostile",
      ApprovePage(
        bar: last, deviceName: hostileName, deviceModel: ForeignText("טלוויזיה (2) ABC"),
        network: .different, asked: ago(minutes: 0), asksNumber: true,
        hasOthers: false),
      {
        both(&$0)
        $0.isPlainHTTP = true
        $0.brand = Brand(
          name: ForeignText("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamten"),
          accent: AccentColor(hex: "fefefe"))
      }),
    Sample("match-number", MatchNumberPage(bar: bar), both),
    Sample("match-number-again", MatchNumberPage(bar: bar, isAgain: true), both),
    Sample("report", ReportPage(bar: bar), both),
  ]
  for problem in EnterCodePage.Problem.allCases {
    samples.append(
      Sample("enter-code-\(problem.rawValue)", EnterCodePage(typed: "BCDA \"<x>", problem: problem))
    )
  }
  var helped = SignInPage(bar: bar, provider: "aurora", brand: aurora, hasOthers: true)
  helped.contact = ForeignText("0800 123456, <b>8</b> to 18 \u{202E}o'clock", limit: 200)
  samples.append(Sample("sign-in-contact", helped, inFlow))
  for problem in SignInPage.Problem.allCases {
    samples.append(
      Sample(
        "sign-in-\(problem.rawValue)",
        SignInPage(
          bar: bar, provider: "aurora", brand: aurora, userName: "anna\"><img src=x>",
          hasOthers: true, problem: problem), inFlow))
  }
  for state in ResultPage.State.allCases {
    samples.append(Sample("result-\(state.rawValue)", ResultPage(bar: bar, state: state), both))
  }
  return samples
}

enum PreviewBars {
  static let nearlyOver = bar(41)
}

func otherSamples() -> [Sample] {
  var samples = [
    Sample("screens", ScreensPage(screens: screens, done: .renamed), signedIn),
    Sample(
      "screens-one", ScreensPage(screens: Array(screens.prefix(1)), canChangePassword: false),
      signedIn),
    Sample("screens-none", ScreensPage(screens: [], done: .allSignedOut), signedIn),
    Sample("rename-screen", RenameScreenPage(id: "a1", name: ForeignText("Living room")), signedIn),
    Sample("apps", AppsPage(id: "c3", name: hostileName, apps: appChoices, isDone: true), signedIn),
    Sample("apps-none", AppsPage(id: "c3", name: ForeignText("Living room"), apps: []), signedIn),
    Sample("confirm-screen", ConfirmPage(.signOutScreen(id: "c3", name: hostileName, apps: [])), signedIn),
    Sample("confirm-screen-apps", ConfirmPage(.signOutScreen(id: "c3", name: hostileName, apps: apps)), signedIn),
    Sample("confirm-all", ConfirmPage(.signOutAllScreens(count: 3)), signedIn),
    Sample("confirm-all-one", ConfirmPage(.signOutAllScreens(count: 1)), signedIn),
    Sample("confirm-phone", ConfirmPage(.signOut), signedIn),
    Sample("change-password", ChangePasswordPage(userName: "anna.rossi", minimum: 15), signedIn),
  ]
  if let bar = bar() {
    var guest = ApprovePage(
      bar: bar, deviceName: ForeignText(""), deviceModel: ForeignText(""), network: .unknown,
      asked: now, hasOthers: false)
    guest.guestOf = aurora.name
    samples.append(Sample("approve-guest", guest) { $0.brand = cinema })
    var bare = guest
    bare.guestOf = nil
    samples.append(Sample("approve-bare", bare, both))
    var program = guest
    program.program = ForeignText("Kodi")
    program.scope = Set(Scope.Name.allCases)
    samples.append(Sample("approve-program", program) { $0.brand = cinema })
  }
  let elsewhere = SafePath(
    leavingTo: "https://www.example.com/done?a=1&b=2",
    allowedBy: RedirectRule(domains: ["example.com"], addresses: []))
  if let elsewhere {
    for kind in LeavePage.Kind.allCases {
      samples.append(
        Sample("leave-\(kind.rawValue)", LeavePage(kind, address: elsewhere, brand: cinema)))
    }
  }
  for problem in RenameScreenPage.Problem.allCases {
    samples.append(
      Sample(
        "rename-screen-\(problem.rawValue)",
        RenameScreenPage(id: "a1", name: ForeignText("X"), problem: problem), signedIn))
  }
  for problem in ChangePasswordPage.Problem.allCases {
    samples.append(
      Sample(
        "change-password-\(problem.rawValue)",
        ChangePasswordPage(userName: "anna.rossi", minimum: 15, problem: problem), signedIn))
  }
  for done in ScreensPage.Done.allCases {
    samples.append(
      Sample("screens-done-\(done.rawValue)", ScreensPage(screens: [], done: done), signedIn))
  }
  for kind in NoticePage.Kind.allCases {
    samples.append(Sample("notice-\(kind.rawValue)", notice(kind)))
  }
  return samples
}

func notice(_ kind: NoticePage.Kind) -> NoticePage {
  switch kind {
  case .tooManyTries, .tooManyCodes: NoticePage(kind, wait: 540)
  case .busy: NoticePage(kind, wait: 20, retry: .root)
  case .held:
    NoticePage(
      kind, wait: 120, retry: (try? RegistrationCode(typed: "BCDFGHJK")).map { PagePaths.code($0) })
  case .failed: NoticePage(kind, reference: "7f3a-91c2")
  default: NoticePage(kind)
  }
}
