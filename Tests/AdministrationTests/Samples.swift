import RegentJSON
import RegentPairing

@testable import Administration

/// Records with a value in every member.
enum Samples {
  static let requestor = read(
    Requestor.init,
    [
      "id": "acme", "name": "Acme", "domains": ["tv.example.org"],
      "redirectUris": ["https://tv.example.org/done", "org.example.tv:/done"],
      "logo": "https://tv.example.org/l.png", "color": "#0A7CFF",
      "contact": "0800 123456",
      "certificate": "-----BEGIN CERTIFICATE-----", "signaturePolicy": "strict",
      "enhancedErrors": true, "numberMatching": true, "exposeDeviceId": true,
      "metadata": ["zip", "userID"],
    ])
  static let provider = read(
    Provider.init,
    [
      "id": "cable", "name": "Cable", "kind": "local", "logo": "https://c.example/l.png",
      "featured": true, "boarding": "picker", "platformId": "Cable1", "secureSheet": true,
    ])
  static let pass = read(
    Provider.init,
    [
      "id": "free", "kind": "temporary", "lifetimeMs": 5000, "promotional": true,
      "resourceLimit": 3,
    ])
  static let integration = read(
    Integration.init,
    [
      "requestor": "acme", "provider": "cable", "enabled": false, "singleSignOn": true,
      "authenticationLifetimeMs": 1000, "authorizationLifetimeMs": 2000,
      "preauthorizationLimit": 7, "profiles": ["tv": ["authenticationLifetimeMs": 3000]],
      "degradation": "authz-none",
    ])
  static let account = read(
    Account.init,
    [
      "provider": "cable", "name": "anna/b", "household": "h 1", "disabled": true,
      "zipCodes": ["12345"], "maximumRatings": [["scheme": "MPAA", "value": "PG-13"]],
      "channels": ["one"],
    ])
  static let rule = read(
    Entitlement.init,
    ["id": "r1", "provider": "cable", "deny": "ppv-*", "household": "h", "message": "not yours"])
  static let code = read(
    CodeEntry.init,
    [
      "id": "c1", "requestor": "acme", "state": "offered", "generated": 1, "expires": 2,
      "device": "\u{1b}]0;x", "deviceId": "d", "address": "192.0.2.1", "preselected": "cable",
      "provider": "cable", "account": "anna",
    ])
  static let signIn = read(
    SignInEntry.init,
    [
      "id": "a1", "device": "0123", "deviceId": "d", "givenName": "Den", "name": "Box",
      "requestor": "acme", "provider": "cable", "account": "anna", "household": "h",
      "source": "regular", "issued": 1, "expires": 2, "lastUsed": 3, "address": "::1",
      "userAgent": "x",
    ])
  static let stats = read(
    Stats.init,
    [
      "since": 1, "started": 5, "opened": 4, "approved": 3, "denied": 2, "expired": 1,
      "withdrawn": 4,
      "medianTimeToApproveMs": 12_000, "waiting": 6, "liveCodes": 7, "wrongCodes": 8,
      "providers": [["provider": "cable", "approved": 3]],
      "hours": [["start": 1, "started": 5, "approved": 3]],
    ])

  private static func read<Document>(
    _ read: (JSONObject) throws(JSONShapeError) -> Document, _ object: JSONObject
  ) -> Document {
    do throws(JSONShapeError) {
      return try read(object)
    } catch {
      preconditionFailure("a sample is not as it must be: \(error)")
    }
  }
}
