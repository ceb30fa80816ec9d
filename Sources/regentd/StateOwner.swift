import CommandKit
import RegentPlatform

/// The owner of the data directory; a root process switches to that user before it writes there.
enum StateOwner {
  /// Switches from root to the owner of the database's folder, because files of root there would keep the service from
  /// starting.
  ///
  /// Does nothing for other users, in a folder that belongs to root, or if the folder does not exist.
  static func become(ofDatabase path: String) throws {
    guard Accounts.effectiveUser == 0,
      let owner = try PrivateDirectory.owner(of: folder(of: path)), owner != 0
    else { return }
    try ActingUser.become(owner)
  }
}
