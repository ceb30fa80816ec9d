import RegentHTTPClient
import Testing
import RegentPlatform

@testable import DeviceAgent

/// The states of pairing as a viewer sees them on the screen.
struct Scene: CustomTestStringConvertible, Sendable {
  let name: String
  let view: PairView

  var testDescription: String { name }

  static let now: Int64 = 1_000_000

  static let link = "HTTPS://TV.EXAMPLE.ORG/D/BCDFGHJK.7QK2M9XA"

  static func code(
    link: String = link, address: String = "tv.example.org", minutesLeft: Int64 = 12
  ) -> ShownCode {
    ShownCode(
      code: "BCDFGHJK", display: "BCDF-GHJK", address: address, link: link,
      expires: 1_800_000_000_000, deadline: now + minutesLeft * 60_000 - 1, lifetime: 1_800_000)
  }

  static let providers = [
    ProviderEntry(id: "one", name: "Example One"),
    ProviderEntry(id: "canal", name: "Canal Éxito", isFeatured: true),
    ProviderEntry(id: "kt", name: "한국 방송"),
  ]

  static func view(
    _ stage: PairStage, trouble: PairingObstacle? = nil, picture: PictureMode = .characters
  ) -> PairView {
    var view = PairView()
    view.stage = stage
    view.trouble = trouble
    view.picture = picture
    view.canChooseProvider = true
    return view
  }

  static func disabledAccount(_ stage: PairStage) -> PairView {
    var view = view(stage)
    view.isAccountDisabled = true
    return view
  }

  static let waiting = Scene(name: "waiting", view: view(.waiting(code())))

  static let all = [
    Scene(name: "starting", view: view(.starting)),
    Scene(name: "choosing", view: view(.choosing(ProviderPicker(providers)))),
    waiting,
    Scene(name: "connected", view: view(.connected(code()))),
    Scene(name: "number", view: view(.number(code(), 42))),
    Scene(name: "signed in", view: view(.signedIn(name: "demo", provider: "Example One"))),
    Scene(name: "denied", view: view(.denied)),
    Scene(name: "denied at the number", view: view(.deniedAtNumber)),
    Scene(name: "expired", view: view(.expired)),
    Scene(name: "resting", view: view(.resting)),
    Scene(
      name: "offline with a code",
      view: view(.waiting(code()), trouble: .offline(host: "tv.example.org"))),
    Scene(name: "offline", view: view(.starting, trouble: .offline(host: "tv.example.org"))),
    Scene(name: "clock", view: view(.starting, trouble: .clock)),
    Scene(name: "expired certificate", view: view(.waiting(code()), trouble: .certificate(.expired))),
    Scene(name: "unknown authority", view: view(.starting, trouble: .certificate(.untrusted))),
    Scene(name: "no authorities", view: view(.failed(.certificate(.noAuthorities), hint: "correct the path"))),
    Scene(name: "refused", view: view(.failed(.refused, hint: "check --public-key"))),
    Scene(name: "disabled account", view: disabledAccount(.waiting(code()))),
    Scene(name: "disabled account without a code", view: disabledAccount(.starting)),
    Scene(name: "last minute", view: view(.waiting(code(minutesLeft: 1)))),
  ]
}

let sizes = [
  WindowSize(rows: 25, columns: 80), WindowSize(rows: 40, columns: 120),
  WindowSize(rows: 20, columns: 40),
]
