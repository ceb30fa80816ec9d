/// Passes a value from the thread that created it to the one thread that uses it.
// @unchecked Sendable, because:
// 1. it is filled before the receiving thread starts, and starting a thread orders memory;
// 2. only that thread calls `take`, once.
final class Handover<Value: ~Copyable>: @unchecked Sendable {
  private var value: Value?

  init(_ value: consuming Value) { self.value = consume value }

  func take() -> Value? { value.take() }
}
