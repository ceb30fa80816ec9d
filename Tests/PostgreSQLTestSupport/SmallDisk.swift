internal import Glibc
internal import TestSupport

/// A small disk on which a server has the database `regent`, and files of statements.
///
/// Its log lies elsewhere. Mounting takes root.
public final class SmallDisk: Sendable {
  private let place: String
  private var filling: String { "\(place)/filling" }

  /// Moves the database there; nobody may be connected to it.
  public init(of server: PostgreSQLServer) throws {
    place = try makeTemporaryFolder()
    let done = try run(
      "bash",
      [
        "-e", "-c",
        """
        mount -t tmpfs -o size=24m,mode=711 tmpfs "$0"
        mkdir -m 700 "$0/rows" && chown --reference="$1/data" "$0/rows"
        for line in "CREATE TABLESPACE small LOCATION '$0/rows'" "ALTER DATABASE regent SET TABLESPACE small"; do
          psql -q -h "$1" -p "$2" -U regent -c "$line" postgres
        done
        """, place, server.folder, "\(server.port)",
      ])
    guard done.status == 0 else { throw TestSupportError("no small disk: \(done.errorText)") }
  }

  /// Takes all the room there is.
  public func fill() throws { _ = try run("dd", ["if=/dev/zero", "of=\(filling)", "bs=4k"]) }

  /// Gives it back.
  public func makeRoom() throws { _ = try run("rm", [filling]) }

  deinit { _ = try? run("umount", ["-l", place]) }
}
