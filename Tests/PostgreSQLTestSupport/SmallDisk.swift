internal import Glibc
internal import TestSupport

/// A small file system (24 MiB) that holds the database `regent` of a server, temporary files included.
///
/// The write-ahead log stays elsewhere. Mounting needs root.
public final class SmallDisk: Sendable {
  private let place: String
  private var filling: String { "\(place)/filling" }

  /// Moves the database to the small disk.
  ///
  /// There must be no connections to it.
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

  /// Fills the disk completely.
  ///
  /// The store's check for room writes a temporary file, which the server deletes a moment after it has answered.
  /// Filling the disk before that would leave the size of that file free, so this waits until the file is gone.
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
    // `dd` ends with status 1 when the disk is full.
    guard done.status == 1 else { throw TestSupportError("the small disk is not filled: \(done.errorText)") }
  }

  /// Deletes the file that fills the disk.
  public func makeRoom() throws { _ = try run("rm", [filling]) }

  deinit { _ = try? run("umount", ["-l", place]) }
}
