internal import CRegentLinux

/// Settings of the C library's memory allocator.
public enum Heap {
  /// Makes all threads allocate memory from one arena; for programs whose threads seldom allocate at the same time.
  ///
  /// Otherwise glibc gives each thread an arena, which it enlarges by one page and one system call at a time.
  public static func shareAmongThreads() { regent_share_one_heap() }

  /// Returns the pages that hold only freed memory to the kernel.
  ///
  /// Call it when the program is idle: threads that allocate meanwhile wait, and pages that are used again must be
  /// cleared by the kernel.
  public static func trim() { regent_trim_heap() }
}
