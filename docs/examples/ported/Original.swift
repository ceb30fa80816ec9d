// An app in the words of the AccessEnabler of other platforms: what it calls, what it hears, what it compares with.
// It compiles after the renames of the table in docs/porting.md and nothing else; the tests do them and build it.

import AccessEnabler

/// What the app hears.
final class Listener: EntitlementDelegate {
  func setRequestorComplete(_ status: Int32) {
    print(status == ACCESS_ENABLER_STATUS_SUCCESS ? "configured" : "not configured")
  }

  func displayProviderDialog(_ mvpds: [Any]) {
    for mvpd in mvpds as! [MVPD] { print(mvpd.ID, mvpd.displayName, mvpd.logoURL ?? "") }
  }

  func setAuthenticationStatus(_ status: Int32, errorCode code: String) {
    switch code {
    case USER_NOT_AUTHENTICATED_ERROR: print("nobody is signed in")
    case PROVIDER_NOT_SELECTED_ERROR: print("the viewer went back")
    case GENERIC_AUTHENTICATION_ERROR: print("something is in the way")
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
    _ metadata: Any?, encrypted: Bool, forKey key: String, andArguments arguments: [String: Any]
  ) { print(key, metadata ?? "nothing") }

  func sendTrackingData(_ data: [Any], forEventType event: Int32) {
    if event == TRACKING_AUTHENTICATION { print(data) }
  }

  func status(_ statusDictionary: [String: Any]) {
    print(statusDictionary["errorId"] ?? "", statusDictionary["message"] ?? "")
  }
}

/// The calls, in the order of a first evening.
func evening(_ softwareStatement: String, _ listener: Listener) throws {
  let accessEnabler = AccessEnabler(softwareStatement, delegate: listener)
  accessEnabler.setOptions(["applicationProfile": "tv", "visitorID": "visitor-1", "handleSVC": "true"])
  accessEnabler.setRequestor("SPORT", serviceProviders: ["https://pair.example"])
  accessEnabler.checkAuthentication()
  accessEnabler.getAuthentication(true, withData: ["campaign": "spring"])
  accessEnabler.setSelectedProvider("CABLE")
  accessEnabler.handleExternalURL(ADOBEPASS_REDIRECT_URL)
  accessEnabler.checkPreauthorizedResources(["news", "sports"], cache: false)
  accessEnabler.checkAuthorization("news")
  accessEnabler.getAuthorization("news", withData: ["campaign": "spring"])
  accessEnabler.getSelectedProvider()
  accessEnabler.getMetadata([
    METADATA_OPCODE_KEY: METADATA_USER_META, METADATA_USER_META_KEY: "zip",
  ])
  accessEnabler.getMetadata([METADATA_OPCODE_KEY: METADATA_AUTHENTICATION])
  accessEnabler.getMetadata([METADATA_OPCODE_KEY: METADATA_AUTHORIZATION, METADATA_RESOURCE_ID_KEY: "news"])
  accessEnabler.getMetadata([METADATA_OPCODE_KEY: METADATA_DEVICE_ID])
  accessEnabler.setSelectedProvider(nil)
  accessEnabler.logout()
}
