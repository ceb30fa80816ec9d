import CommandKit
import RegentPlatform

/// The user who owns the data directory; a root process becomes that user before it writes there.
enum StateOwner {
  /// Root goes on as the user whose folder a database is in: a file of root's there would keep the service out.
  ///
  /// Nothing happens for anybody but root, in root's own folder, and where there is no folder.
  static func become(ofDatabase path: String) throws {
    guard Accounts.effectiveUser == 0,
      let owner = try PrivateDirectory.owner(of: folder(of: path)), owner != 0
    else { return }
    try ActingUser.become(owner)
  }
}
