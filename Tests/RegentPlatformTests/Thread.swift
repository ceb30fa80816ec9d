import Glibc

/// A plain thread for work that runs beside a test.
final class Thread: Sendable {
  private let handle: pthread_t

  init(_ body: sending @escaping () -> Void) {
    let box = unsafe Unmanaged.passRetained(Box(body)).toOpaque()
    var handle = pthread_t()
    let made = unsafe pthread_create(&handle, nil, run, box)
    precondition(made == 0, "no thread: error \(made)")
    self.handle = handle
  }

  func join() {
    pthread_join(handle, nil)
  }
}

private final class Box {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}

private func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
  return nil
}
