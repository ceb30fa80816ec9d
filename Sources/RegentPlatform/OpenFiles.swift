import Glibc

/// The limit on open files and sockets of this process.
public enum OpenFiles {
  /// Raises the soft limit to `wanted`, as far as the hard limit allows.
  ///
  /// Never lowers it.
  ///
  /// - Returns: the limit that is in force now.
  public static func raiseLimit(to wanted: Int) -> Int {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
    if limit.rlim_cur < rlim_t(max(0, wanted)) {
      var raised = limit
      raised.rlim_cur = min(rlim_t(max(0, wanted)), limit.rlim_max)
      if unsafe setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
