// A channel's app for the AccessEnabler of other platforms: it starts, signs the viewer in, marks what may be watched,
// plays, and signs out. It was written from the original's documentation, without looking at the SDK of this project.
// It compiles after the renames of the table in docs/porting.md and nothing else; the tests do them and build it.

import AccessEnabler

/// A film or programme of the channel.
struct Title {
  let name: String
  let resource: String
  let rating: Int
  var isLocked = true
}

/// What the television shows.
enum Screen: Equatable {
  case loading
  case catalogue
  case providers([String])
  case code(String, expires: String)
  case page(String, inSheet: Bool)
  case systemPicker
  case playing(String)
  case message(String)
}

/// The app.
final class Channel: EntitlementDelegate {
  let accessEnabler: AccessEnabler
  private(set) var screen = Screen.loading
  private(set) var titles: [Title]
  private(set) var isSignedIn = false
  private(set) var providerName: String?
  private var wanted: String?
  private var maxRating: Int?
  private var providers: [MVPD] = []
  private var reports: [String] = []

  init(softwareStatement: String, titles: [Title]) {
    self.titles = titles
    accessEnabler = AccessEnabler(softwareStatement)
    accessEnabler.delegate = self
  }

  // MARK: The life of the app

  func launch(visitor: String) {
    accessEnabler.setOptions(["visitorID": visitor, "handleSVC": true, "device_info": ["model": "box 2"]])
    accessEnabler.setRequestor("CHANNEL", serviceProviders: ["sp.auth.example.com/adobe-services"])
  }

  /// The app comes to the front again.
  func foreground() {
    accessEnabler.setRequestor("CHANNEL")
  }

  func open(_ url: String) {
    if url.hasPrefix(ADOBEPASS_REDIRECT_URL) {
      screen = .loading
      accessEnabler.handleExternalURL(url)
    }
  }

  // MARK: The viewer's buttons

  func signIn() {
    screen = .loading
    let filter: [String: Any] = [TV_PROVIDERS: ["CABLE", "SATELLITE", "FIBRE"], FEATURED_TV_PROVIDERS: ["CABLE"]]
    accessEnabler.getAuthentication(false, withData: ["screen": "catalogue"], andFilter: filter)
  }

  func choose(_ index: Int?) {
    guard let index = index, index < providers.count else {
      accessEnabler.setSelectedProvider(nil)
      return
    }
    accessEnabler.setSelectedProvider(providers[index].ID)
  }

  func play(_ title: Title) {
    if let maxRating = maxRating, title.rating > maxRating {
      screen = .message("Parental controls")
      return
    }
    wanted = title.resource
    if isSignedIn {
      accessEnabler.checkAuthorization(title.resource, withData: ["title": title.name])
    } else {
      accessEnabler.getAuthorization(title.resource)
    }
  }

  func signOut() {
    accessEnabler.logout()
  }

  // MARK: EntitlementDelegate

  func setRequestorComplete(_ status: Int32) {
    if status == ACCESS_ENABLER_STATUS_SUCCESS {
      accessEnabler.checkAuthentication()
    } else {
      screen = .message("The channel cannot be reached")
    }
  }

  func displayProviderDialog(_ mvpds: [Any]) {
    providers = mvpds as! [MVPD]
    screen = .providers(providers.map { $0.displayName })
  }

  func navigate(toUrl url: String) {
    screen = .page(url, inSheet: false)
  }

  func navigate(toUrl url: String, useSVC: Bool) {
    screen = .page(url, inSheet: useSVC)
  }

  func setAuthenticationStatus(_ status: Int32, errorCode code: String) {
    isSignedIn = status == ACCESS_ENABLER_STATUS_SUCCESS
    if isSignedIn {
      accessEnabler.getSelectedProvider()
      accessEnabler.checkPreauthorizedResources(titles.map { $0.resource })
      accessEnabler.getMetadata([METADATA_OPCODE_KEY: METADATA_USER_META, METADATA_USER_META_KEY: "maxRating"])
      accessEnabler.getMetadata([METADATA_OPCODE_KEY: METADATA_AUTHENTICATION])
      screen = .catalogue
      return
    }
    providerName = nil
    switch code {
    case USER_NOT_AUTHENTICATED_ERROR, PROVIDER_NOT_SELECTED_ERROR: screen = .catalogue
    case GENERIC_AUTHENTICATION_ERROR: screen = .message("Signing in failed. Try again.")
    default: screen = .catalogue
    }
  }

  func preauthorizedResources(_ resources: [Any]) {
    let open = resources as! [String]
    for index in titles.indices {
      titles[index].isLocked = !open.contains(titles[index].resource)
    }
  }

  func setToken(_ token: String, forResource resource: String) {
    guard resource == wanted else { return }
    screen = .playing(token)
  }

  func tokenRequestFailed(_ resource: String, errorCode code: String, errorDescription description: String) {
    if code == USER_NOT_AUTHENTICATED_ERROR {
      signIn()
    } else if code == USER_NOT_AUTHORIZED_ERROR {
      screen = .message(description.isEmpty ? "Not in your package" : description)
    } else {
      screen = .message("Try again later")
    }
  }

  func selectedProvider(_ mvpd: MVPD?) {
    providerName = mvpd?.displayName
  }

  func setMetadataStatus(
    _ metadata: Any?, encrypted: Bool, forKey key: Int32, andArguments arguments: [AnyHashable: Any]
  ) {
    guard !encrypted, key == METADATA_USER_META else { return }
    if arguments[METADATA_USER_META_KEY] == "maxRating" { reports.append("rating: " + (metadata ?? "none")) }
  }

  func presentTvProviderDialog(_ viewController: UIViewController) {
    screen = .systemPicker
  }

  func dismissTvProviderDialog(_ viewController: UIViewController) {
    screen = .loading
  }

  func sendTrackingData(_ data: [Any], forEventType event: Int32) {
    let fields = (data as! [String]).joined(separator: ",")
    switch event {
    case TRACKING_AUTHENTICATION: reports.append("authentication: " + fields)
    case TRACKING_AUTHORIZATION: reports.append("authorization: " + fields)
    default: reports.append("provider: " + fields)
    }
  }

  func status(_ statusDictionary: [String: Any]) {
    let id = statusDictionary["errorId"] as? String ?? ""
    if id == "REGCODE" {
      let expires = statusDictionary["expires"] as? String ?? ""
      screen = .code(statusDictionary["message"] as? String ?? "", expires: expires)
    } else if id == "VSA203" {
      screen = .message("Sign out in the settings as well")
    } else if statusDictionary["level"] as? String == "error" {
      reports.append(id + ": " + (statusDictionary["message"] as? String ?? ""))
    }
  }
}
