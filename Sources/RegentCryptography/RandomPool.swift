internal import Glibc

/// Random bytes that one thread has drawn ahead: OpenSSL's generator costs as much for 16 of them as for hundreds, and
/// asks the kernel for the process's number each time.
///
/// Each byte is handed out once and wiped as it goes. The page belongs to its thread, and the kernel hands an empty one
/// to a child after a fork: two processes never draw the same. What is kept for long (a key) does not come from here.
enum RandomPool {
  /// The most that is taken from a pool at a time: an id, a nonce, a draw of letters.
  static let most = 32
  private static let pageSize = 4096
  private static let room = 1024
  /// Where the bytes begin; before them stands how many are left.
  private static let start = 16

  /// One page for each thread, wiped and given back when the thread ends.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let made = unsafe pthread_key_create(&key) { page in
      guard let page = unsafe page else { return }
      unsafe explicit_bzero(page, RandomPool.pageSize)
      unsafe munmap(page, RandomPool.pageSize)
    }
    return made == 0 ? key : nil
  }()

  /// Moves bytes out of this thread's pool.
  ///
  /// - Returns: whether it could; otherwise nothing was written.
  @unsafe static func take(_ count: Int, _ target: UnsafeMutablePointer<UInt8>?) -> Bool {
    guard (1...most).contains(count), let target = unsafe target, let page = unsafe page() else { return false }
    let left = unsafe page.assumingMemoryBound(to: Int.self)
    let bytes = unsafe page.advanced(by: start).assumingMemoryBound(to: UInt8.self)
    if unsafe left.pointee < count {
      unsafe fill(bytes, room)
      unsafe left.pointee = room
    }
    // First they are not there any more, then they are somebody's.
    unsafe left.pointee -= count
    let taken = unsafe bytes.advanced(by: left.pointee)
    unsafe target.update(from: taken, count: count)
    unsafe explicit_bzero(taken, count)
    return true
  }

  /// How many bytes this thread has ahead.
  static var left: Int {
    guard let page = unsafe page() else { return 0 }
    return unsafe page.assumingMemoryBound(to: Int.self).pointee
  }

  private static func page() -> UnsafeMutableRawPointer? {
    guard let key else { return nil }
    if let page = unsafe pthread_getspecific(key) { return unsafe page }
    let page = unsafe mmap(nil, pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let page = unsafe page, unsafe page != MAP_FAILED else { return nil }
    // Without the kernel's word that a child finds zeros here there is no pool.
    guard unsafe madvise(page, pageSize, MADV_WIPEONFORK) == 0, unsafe pthread_setspecific(key, page) == 0 else {
      unsafe munmap(page, pageSize)
      return nil
    }
    return unsafe page
  }
}
