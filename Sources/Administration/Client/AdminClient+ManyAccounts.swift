import RegentHTTPCodec
import RegentJSON

// Calls of the admin client that import thousands of accounts, in batches of one transaction each.

extension AdminClient {
  /// Adds or changes up to ``AdminPaths/page`` accounts in one transaction.
  public func save(_ changes: [AccountChange]) async throws(AdminError) -> AccountOutcomes {
    try await document(.post, AdminPaths.manyAccounts, AccountBatch(changes).object)
  }

  /// Checks whether the service accepts up to ``AdminPaths/page`` password hashes of another program, without writing
  /// anything.
  public func look(at questions: [HashQuestion]) async throws(AdminError) -> [HashAnswer] {
    try await list(AdminPaths.hashes, method: .post, HashQuestions(questions).object)
  }
}

/// Divides a list into batches of at most `count` entries and `bytes` bytes.
///
/// The default for `bytes` is far below the 256 KiB that a service accepts in one request, unless the service is
/// configured otherwise.
package func batches<Element: AdminDocument>(
  of all: [Element], count: Int = AdminPaths.page, bytes: Int = 64 << 10
) -> [[Element]] {
  var result: [[Element]] = []
  var size = 0
  for element in all {
    let more = element.object.bytes().count + 1
    if let last = result.last, last.count < count, size + more <= bytes {
      result[result.count - 1].append(element)
      size += more
    } else {
      result.append([element])
      size = more
    }
  }
  return result
}
