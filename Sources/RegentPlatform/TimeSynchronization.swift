/// Whether this machine's clock follows a time server.
public enum TimeSynchronization {
  /// Asks systemd.
  ///
  /// - Returns: nil if systemd does not run here or does not answer within five seconds.
  public static var isActive: Bool? {
    // systemd does not say this in a file, and the programs that ask are not allowed to call adjtimex in their sandbox.
    let question = """
      case "$(timeout 5 timedatectl show --property=NTPSynchronized --value 2>/dev/null)" in
      yes) exit 0 ;; no) exit 1 ;; *) exit 2 ;; esac
      """
    return switch try? ChildProgram.run("sh", ["-c", question]) {
    case 0: true
    case 1: false
    default: nil
    }
  }
}
