// All identifier types, with the length and the characters that each may have.

/// The id of an app publisher.
public typealias RequestorID = Identifier<Names.Requestor>
/// The id of a provider with which viewers sign in.
public typealias ProviderID = Identifier<Names.Provider>
/// The id that a device gives itself: any stable string, returned unchanged.
public typealias DeviceID = Identifier<Names.Device>
/// A viewer's account name at one provider.
public typealias AccountName = Identifier<Names.Account>
/// The id of a household, which several accounts can share.
public typealias HouseholdID = Identifier<Names.Household>
/// The public id of a signing key pair, by which the service finds the secret.
public typealias PublicKey = Identifier<Names.PublicKey>
/// A resource that an app wants to play: a plain name or a Media RSS fragment, unchanged.
public typealias ResourceID = Identifier<Names.Resource>
/// The id of the record behind a registration code.
///
/// Unlike the code it is not secret.
public typealias RegistrationID = Identifier<Names.Registration>
/// The id of an authentication: a device that is signed in.
public typealias AuthenticationID = Identifier<Names.Authentication>
/// The id of a signed-in phone browser session.
public typealias SessionID = Identifier<Names.Session>
/// The id of an entitlement rule.
public typealias EntitlementID = Identifier<Names.Entitlement>
/// The name of a profile, a set of lifetimes and limits of an integration.
///
/// The app chooses the profile.
public typealias ProfileName = Identifier<Names.Profile>
/// The id of an application that a requestor registered (a software statement, RFC 7591).
public typealias StatementID = Identifier<Names.Statement>
/// The public part of an enrolment code, which identifies an invitation for a requestor's boxes.
public typealias EnrolmentID = Identifier<Names.Enrolment>
/// The id of a client that registered with a software statement, or of an OAuth client.
public typealias ClientID = Identifier<Names.Client>
/// The id of a box that holds an account for all its apps (a platform account).
public typealias BoxID = Identifier<Names.Box>
/// The id of an OAuth grant: what a viewer allowed one OAuth client on one device.
public typealias GrantID = Identifier<Names.Grant>
/// The id of a key that signs media tokens.
public typealias SigningKeyID = Identifier<Names.SigningKey>
/// The name of one node, one of several processes of the service with a shared database.
public typealias NodeID = Identifier<Names.Node>

extension NodeID {
  /// How long a node may miss its heartbeats, one a second, before it counts as gone.
  ///
  /// Another process may then take its name.
  public static let silence: Duration = .seconds(5)
}
/// The name of an operator who used the admin socket.
public typealias OperatorName = Identifier<Names.Operator>

/// The kinds of identifiers.
public enum Names {
  public enum Requestor: PlainIdentifierKind {}
  public enum Provider: PlainIdentifierKind {}
  public enum Registration: PlainIdentifierKind {}
  public enum Authentication: PlainIdentifierKind {}
  public enum Session: PlainIdentifierKind {}
  public enum Entitlement: PlainIdentifierKind {}
  public enum Profile: PlainIdentifierKind {}
  public enum Statement: PlainIdentifierKind {}
  public enum Enrolment: PlainIdentifierKind {}
  public enum Client: PlainIdentifierKind {}
  public enum Box: PlainIdentifierKind {}
  public enum Grant: PlainIdentifierKind {}
  public enum SigningKey: PlainIdentifierKind {}
  public enum Node: PlainIdentifierKind {}
  public enum PublicKey: PlainIdentifierKind {}

  public enum Device: ChosenIdentifierKind {
    /// Eight times a hexadecimal SHA-256 (64 bytes), the longest device id that clients were seen to send.
    public static var longest: Int { 512 }
  }

  public enum Account: ChosenIdentifierKind {
    /// The maximum length of an e-mail address.
    public static var longest: Int { 254 }
  }

  public enum Household: ChosenIdentifierKind {
    public static var longest: Int { 128 }
  }

  public enum Operator: ChosenIdentifierKind {
    public static var longest: Int { 128 }
  }

  public enum Resource: IdentifierKind {
    /// The maximum length of a resource id, 8 KiB.
    ///
    /// A Media RSS fragment with a few ratings takes 1 to 2 KiB.
    public static var longest: Int { 8192 }

    /// Allows all characters but control characters in a resource id.
    ///
    /// XML fragments may contain line ends and tabs.
    public static func allows(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D: true
      case 0..<0x20, 0x7F..<0xA0: false
      default: true
      }
    }
  }
}
