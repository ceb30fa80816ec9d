// Every identifier of the product in one place: what it names, and what it may be made of.

/// A programmer's identity: whose app runs on the device.
public typealias RequestorID = Identifier<Names.Requestor>
/// Whom the viewer signs in with.
public typealias ProviderID = Identifier<Names.Provider>
/// What a device calls itself: any stable string, echoed as it came.
public typealias DeviceID = Identifier<Names.Device>
/// A viewer's name at one provider.
public typealias AccountName = Identifier<Names.Account>
/// Several accounts under one roof.
public typealias HouseholdID = Identifier<Names.Household>
/// The public half of a key pair: the id by which its secret is found.
public typealias PublicKey = Identifier<Names.PublicKey>
/// What an app wants to show: a plain name or a Media RSS fragment, as it came.
public typealias ResourceID = Identifier<Names.Resource>
/// One registration: the record behind a code, which is never named by the code itself.
public typealias RegistrationID = Identifier<Names.Registration>
/// One authentication: a device that is signed in.
public typealias AuthenticationID = Identifier<Names.Authentication>
/// One signed-in phone browser.
public typealias SessionID = Identifier<Names.Session>
/// One entitlement rule.
public typealias EntitlementID = Identifier<Names.Entitlement>
/// One of an integration's profiles, chosen by the app.
public typealias ProfileName = Identifier<Names.Profile>
/// One application that a requestor registered (a software statement).
public typealias StatementID = Identifier<Names.Statement>
/// One invitation of a requestor's boxes: the part of an enrolment code that is no secret.
public typealias EnrolmentID = Identifier<Names.Enrolment>
/// One registered client of such an application, or one program that pairs in OAuth's words.
public typealias ClientID = Identifier<Names.Client>
/// One box that holds an account for its apps.
public typealias BoxID = Identifier<Names.Box>
/// What one program of that kind was given on one device.
public typealias GrantID = Identifier<Names.Grant>
/// One key that signs media tokens.
public typealias SigningKeyID = Identifier<Names.SigningKey>
/// One of the programs that serve together on one store.
public typealias NodeID = Identifier<Names.Node>

extension NodeID {
  /// A node that said nothing for so long, five beats, is gone or cannot reach the store: its name is free.
  public static let silence: Duration = .seconds(5)
}
/// Who acted on the admin socket.
public typealias OperatorName = Identifier<Names.Operator>

/// What each kind of identifier may be made of.
public enum Names {
  /// Names requestors.
  public enum Requestor: PlainIdentifierKind {}
  /// Names providers.
  public enum Provider: PlainIdentifierKind {}
  /// Names registrations.
  public enum Registration: PlainIdentifierKind {}
  /// Names authentications.
  public enum Authentication: PlainIdentifierKind {}
  /// Names sessions.
  public enum Session: PlainIdentifierKind {}
  /// Names entitlement rules.
  public enum Entitlement: PlainIdentifierKind {}
  /// Names profiles.
  public enum Profile: PlainIdentifierKind {}
  /// Names software statements.
  public enum Statement: PlainIdentifierKind {}
  /// Names invitations.
  public enum Enrolment: PlainIdentifierKind {}
  /// Names registered clients.
  public enum Client: PlainIdentifierKind {}
  /// Names boxes.
  public enum Box: PlainIdentifierKind {}
  /// Names grants.
  public enum Grant: PlainIdentifierKind {}
  /// Names signing keys.
  public enum SigningKey: PlainIdentifierKind {}
  /// Names nodes.
  public enum Node: PlainIdentifierKind {}
  /// Names key pairs.
  public enum PublicKey: PlainIdentifierKind {}

  /// Names devices.
  public enum Device: ChosenIdentifierKind {
    /// 512 bytes: eight times a hexadecimal SHA-256, the longest form that clients were seen to send.
    public static var longest: Int { 512 }
  }

  /// Names accounts.
  public enum Account: ChosenIdentifierKind {
    /// 254 bytes: the longest mail address.
    public static var longest: Int { 254 }
  }

  /// Names households.
  public enum Household: ChosenIdentifierKind {
    /// 128 bytes.
    public static var longest: Int { 128 }
  }

  /// Names operators.
  public enum Operator: ChosenIdentifierKind {
    /// 128 bytes.
    public static var longest: Int { 128 }
  }

  /// Names resources.
  public enum Resource: IdentifierKind {
    /// 8 KiB: a Media RSS fragment with a few ratings has one or two.
    public static var longest: Int { 8192 }

    /// Everything but control characters; an XML fragment may have line ends and tabs.
    public static func allows(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D: true
      case 0..<0x20, 0x7F..<0xA0: false
      default: true
      }
    }
  }
}
