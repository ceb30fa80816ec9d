// An app in the words of the AccessEnabler of other platforms, with every call and callback of its reference.
// It compiles after the renames of the table in docs/porting.md and nothing else; the tests do them and build it.

import AccessEnabler

/// The app's callbacks.
final class Listener: EntitlementDelegate {
  func setRequestorComplete(_ status: Int32) {
    print(status == ACCESS_ENABLER_STATUS_SUCCESS ? "configured" : "not configured")
  }

  func displayProviderDialog(_ mvpds: [Any]) {
    for mvpd in mvpds as! [MVPD] {
      print(mvpd.ID, mvpd.displayName, mvpd.logoURL ?? "")
      if mvpd.enablePlatformServices, mvpd.boardingStatus == "SUPPORTED" { print("single sign-on") }
      if mvpd.boardingStatus == "PICKER" { print("in the picker") }
    }
  }

  func setAuthenticationStatus(_ status: Int32, errorCode code: String) {
    switch code {
    case USER_NOT_AUTHENTICATED_ERROR: print("sign in first")
    case PROVIDER_NOT_SELECTED_ERROR: print("the viewer went back")
    case GENERIC_AUTHENTICATION_ERROR: print("try again later")
    default: print(status == ACCESS_ENABLER_STATUS_SUCCESS ? "signed in" : "not signed in")
    }
  }

  func setToken(_ token: String, forResource resource: String) { print("play", resource, token) }

  func tokenRequestFailed(_ resource: String, errorCode code: String, errorDescription description: String) {
    print(code == USER_NOT_AUTHORIZED_ERROR ? description : "sorry")
  }

  func navigate(toUrl url: String) { print("open", url) }

  func navigate(toUrl url: String, useSVC: Bool) { print("open in a sheet", url) }

  func preauthorizedResources(_ resources: [Any]) { print("unlocked", resources) }

  func selectedProvider(_ mvpd: MVPD?) { print(mvpd?.ID ?? "none") }

  func setMetadataStatus(
    _ metadata: Any?, encrypted: Bool, forKey key: Int32, andArguments arguments: [AnyHashable: Any]
  ) {
    if key == METADATA_USER_META, let name = arguments[METADATA_USER_META_KEY] { print(name, encrypted) }
    switch key {
    case METADATA_AUTHENTICATION, METADATA_AUTHORIZATION: print("ends", metadata ?? "never")
    case METADATA_DEVICE_ID: print("device", metadata ?? "unknown")
    default: break
    }
  }

  func presentTvProviderDialog(_ viewController: UIViewController) { print("show the picker") }

  func dismissTvProviderDialog(_ viewController: UIViewController) { print("remove the picker") }

  func sendTrackingData(_ data: [Any], forEventType event: Int32) {
    if event == TRACKING_AUTHENTICATION || event == TRACKING_AUTHORIZATION { print(data) }
    if event == TRACKING_GET_SELECTED_PROVIDER { print("provider", data) }
  }

  func status(_ statusDictionary: [String: Any]) {
    print(statusDictionary["errorId"] ?? "", statusDictionary["level"] ?? "", statusDictionary["message"] ?? "")
  }
}

/// The calls of version 3.
func evening(_ softwareStatement: String, _ listener: Listener) throws {
  let accessEnabler = AccessEnabler(softwareStatement)
  accessEnabler.delegate = listener
  let options: [String: Any] = [
    "applicationProfile": "tv", "visitorID": "visitor-1", "handleSVC": true, "device_info": ["model": "box", "ram": 2],
  ]
  accessEnabler.setOptions(options)
  accessEnabler.setRequestor("SPORT")
  accessEnabler.setRequestor("SPORT", serviceProviders: ["https://pair.example"])
  accessEnabler.checkAuthentication()
  accessEnabler.getAuthentication()
  accessEnabler.getAuthentication(true, withData: ["campaign": "spring", "step": 2])
  accessEnabler.getAuthentication(false, withData: nil)
  accessEnabler.getAuthentication([TV_PROVIDERS: ["CABLE", "SATELLITE"], FEATURED_TV_PROVIDERS: ["CABLE"]])
  let filter: [String: Any] = ["TV_PROVIDERS": ["CABLE"]]
  accessEnabler.getAuthentication(filter)
  accessEnabler.getAuthentication(true, withData: nil, andFilter: [TV_PROVIDERS: ["CABLE"]])
  accessEnabler.setSelectedProvider("CABLE")
  accessEnabler.handleExternalURL(ADOBEPASS_REDIRECT_URL)
  accessEnabler.checkPreauthorizedResources(["news", "sports"])
  accessEnabler.checkPreauthorizedResources(["news", "sports"], cache: false)
  accessEnabler.checkAuthorization("news")
  accessEnabler.checkAuthorization("news", withData: ["campaign": "spring"])
  accessEnabler.getAuthorization("news")
  accessEnabler.getAuthorization("news", withData: ["campaign": "spring"])
  accessEnabler.getSelectedProvider()
  accessEnabler.getMetadata([METADATA_OPCODE_KEY: Int(METADATA_USER_META), METADATA_USER_META_KEY: "tokenSource"])
  accessEnabler.getMetadata([METADATA_OPCODE_KEY: METADATA_AUTHENTICATION])
  accessEnabler.getMetadata([METADATA_OPCODE_KEY: METADATA_AUTHORIZATION, METADATA_RESOURCE_ID_KEY: "news"])
  let question: [String: Any] = [METADATA_OPCODE_KEY: METADATA_DEVICE_ID]
  accessEnabler.getMetadata(question)
  accessEnabler.setSelectedProvider(nil)
  accessEnabler.logout()
}

/// The calls of versions 1 and 2, and of tvOS.
func earlier(_ listener: Listener) throws {
  let accessEnabler = AccessEnabler()
  accessEnabler.delegate = listener
  accessEnabler.setRequestor("SPORT", signedRequestorID: "c2lnbmVk")
  accessEnabler.setRequestor("SPORT", signedRequestorID: "c2lnbmVk", serviceProviders: ["https://pair.example"])
  accessEnabler.setRequestor("SPORT", signedRequestorID: "c2lnbmVk", secret: "secret", publicKey: "key")
  accessEnabler.setRequestor(
    "SPORT", signedRequestorID: "c2lnbmVk", serviceProviders: ["https://pair.example"], secret: "secret",
    publicKey: "key")
  accessEnabler.getAuthentication(["CABLE", "SATELLITE"])
  accessEnabler.getAuthentication(true, withData: ["campaign": "spring"], andFilter: ["CABLE"])
  accessEnabler.getAuthenticationToken()
}
