import RegentPairing

@testable import Administration

/// Every document of the admin interface, with a value in every member, in its JSON form.
enum WireRecord {
  static let kinds: [WireKind] = [
    WireKind(
      AdminError.self,
      #"{"error":{"code":"different","message":"no","hint":"look","differences":["#
        + #"{"member":"name","stored":"A","wanted":["B"]}]}}"#),
    WireKind(Difference.self, #"{"member":"logo","stored":"A","wanted":true}"#),
    WireKind(
      AuditLine.self,
      #"{"number":9007199254740993,"at":1700000000123,"actor":"operator root","action":"code.approve","#
        + #""subject":"c1","outcome":"done","detail":"by hand"}"#),
    WireKind(
      CodeEntry.self,
      #"{"id":"c1","requestor":"acme","state":"offered","generated":1,"expires":2,"device":"Box","deviceId":"d","#
        + #""address":"::1","preselected":"cable","provider":"cable","account":"anna"}"#),
    WireKind(CodeApproval.self, #"{"provider":"cable","account":"anna"}"#),
    WireKind(
      KeyPairEntry.self,
      #"{"publicKey":"k1","requestor":"acme","purpose":"calls","state":"active","created":1,"lastUsed":2}"#),
    WireKind(IssuedKey.self, #"{"publicKey":"k1","secret":"s3"}"#),
    WireKind(
      StatementEntry.self, #"{"id":"s1","requestor":"acme","application":"TV","issued":1,"revoked":false}"#),
    WireKind(IssuedStatement.self, #"{"id":"s1","softwareStatement":"a.b.c"}"#),
    WireKind(
      SigningKeyEntry.self, #"{"id":"k1","state":"retired","created":1,"signsFrom":2,"neededUntil":3}"#),
    WireKind(
      SignInEntry.self,
      #"{"id":"a1","device":"0123","deviceId":"d","givenName":"Den","name":"Box","requestor":"acme","#
        + #""provider":"cable","account":"anna","household":"h","source":"regular","issued":1,"expires":2,"#
        + #""lastUsed":3,"address":"::1","userAgent":"x"}"#),
    WireKind(
      SessionEntry.self,
      #"{"id":"s1","provider":"cable","account":"anna","started":1,"lastUsed":2,"expires":3,"address":"::1","#
        + #""userAgent":"x"}"#),
    WireKind(
      Stats.self,
      #"{"since":1,"started":5,"opened":4,"approved":3,"denied":2,"expired":1,"withdrawn":4,"#
        + #""medianTimeToApproveMs":12000,"waiting":6,"liveCodes":7,"wrongCodes":8,"#
        + #""providers":[{"provider":"cable","approved":3,"signIns":4}],"#
        + #""hours":[{"start":1,"started":5,"approved":3}]}"#),
    WireKind(ProviderCount.self, #"{"provider":"cable","approved":3,"signIns":4}"#),
    WireKind(HourCount.self, #"{"start":-5,"started":5,"approved":3}"#),
    WireKind(TokenQuestion.self, #"{"token":"abc","resource":"news"}"#),
    WireKind(
      TokenVerdict.self,
      #"{"valid":true,"reason":"r","keyId":"k","requestor":"acme","provider":"cable","resource":"news","#
        + #""issued":1,"expires":2}"#),
    WireKind(
      PassEntry.self,
      #"{"place":"p","requestor":"acme","provider":"free","device":"01","identified":true,"state":"used","#
        + #""started":1,"until":2,"titles":3,"titleLimit":4}"#),
    WireKind(
      PassReset.self, as: "PassReset(device)", #"{"requestor":"acme","provider":"free","device":"d"}"#),
    WireKind(
      PassReset.self, as: "PassReset(identity)", #"{"requestor":"acme","provider":"free","identity":"i"}"#),
    WireKind(ServiceInfo.self, #"{"version":"0.1.0","started":1,"publicUrl":"https://tv.example.org"}"#),
    WireKind(BackupEntry.self, #"{"id":"b1","size":9223372036854775807,"sha256":"00","created":1}"#),
    WireKind(Finding.self, #"{"check":"database","status":"bad","detail":"damaged","fix":"restore"}"#),
    WireKind(CountDocument.self, #"{"count":9223372036854775807}"#),
    WireKind(
      Requestor.self,
      #"{"id":"acme","name":"Acme","domains":["tv.example.org"],"redirectUris":["https://tv.example.org/done"],"#
        + ##""logo":"https://tv.example.org/l.png","color":"#0A7CFF","contact":"0800","##
        + #""certificate":"-----BEGIN CERTIFICATE-----","signaturePolicy":"strict","enhancedErrors":true,"#
        + #""numberMatching":true,"exposeDeviceId":true,"metadata":["userID","zip"],"platform":true,"#
        + #""registration":"open"}"#),
    WireKind(
      Provider.self, as: "Provider(local)",
      #"{"id":"cable","name":"Cable","kind":"local","logo":"https://c.example/l.png","featured":true,"#
        + #""boarding":"picker","platformId":"Cable1","secureSheet":true}"#),
    WireKind(
      Provider.self, as: "Provider(temporary)",
      #"{"id":"free","name":"Free","kind":"temporary","featured":false,"boarding":"none","secureSheet":false,"#
        + #""lifetimeMs":5000,"promotional":true,"resourceLimit":3}"#),
    WireKind(
      Integration.self,
      #"{"requestor":"acme","provider":"cable","enabled":false,"singleSignOn":true,"#
        + #""authenticationLifetimeMs":1000,"authorizationLifetimeMs":2000,"preauthorizationLimit":7,"#
        + #""profiles":{"phone":{"preauthorizationLimit":2},"tv":{"authenticationLifetimeMs":3000}},"#
        + #""degradation":"authz-none"}"#),
    WireKind(
      Account.self,
      #"{"provider":"cable","name":"anna/b","household":"h 1","disabled":true,"zipCodes":["12345"],"#
        + #""maximumRatings":[{"scheme":"MPAA","value":"PG-13"}],"channels":["one"]}"#),
    WireKind(ParentalRating.self, #"{"scheme":"MPAA","value":"PG-13"}"#),
    WireKind(
      Entitlement.self, #"{"provider":"cable","household":"h","deny":"ppv-*","message":"no","id":"r1"}"#),
    WireKind(EntitlementRequest.self, #"{"provider":"cable","account":"anna","allow":"ppv-*"}"#),
    WireKind(
      ProvisioningFile.self,
      #"{"requestors":[],"providers":[],"integrations":[],"accounts":[],"#
        + #""entitlements":[{"provider":"cable","allow":"*"}]}"#),
    WireKind(
      Saved<ParentalRating>.self, as: "Saved", #"{"scheme":"MPAA","value":"PG-13","outcome":"added"}"#),
  ]
}
