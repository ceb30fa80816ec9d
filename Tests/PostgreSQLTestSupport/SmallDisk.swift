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
  ///
  /// Whoever asks for room has his answer a moment before the server takes its temporary file away, whose room would be
  /// free afterwards.
  public func fill() throws {
    let done = try run(
      "bash",
      [
        "-c",
        """
        for try in $(seq 300); do
          [ -z "$(find "$0/rows" -path '*/pgsql_tmp/*')" ] && exec dd if=/dev/zero of="$1" bs=4k
          sleep 0.1
        done
        exit 7
        """, place, filling,
      ])
    // It ends when there is no room any more.
    guard done.status == 1 else { throw TestSupportError("the small disk is not filled: \(done.errorText)") }
  }

  /// Gives it back.
  public func makeRoom() throws { _ = try run("rm", [filling]) }

  deinit { _ = try? run("umount", ["-l", place]) }
}
