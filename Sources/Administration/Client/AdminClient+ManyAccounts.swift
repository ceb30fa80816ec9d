import RegentHTTPCodec
import RegentJSON

// Accounts by the thousand, in batches that a service takes as one.

extension AdminClient {
  /// Adds or changes accounts, ``AdminPaths/page`` at most: all of them or none.
  public func save(_ changes: [AccountChange]) async throws(AdminError) -> AccountOutcomes {
    try await document(.post, AdminPaths.manyAccounts, AccountBatch(changes).object)
  }

  /// Looks at hashes that other programs made, ``AdminPaths/page`` at most; nothing is written.
  public func look(at questions: [HashQuestion]) async throws(AdminError) -> [HashAnswer] {
    try await list(AdminPaths.hashes, method: .post, HashQuestions(questions).object)
  }
}

/// Parts of a list that a service takes in one call: so many at most, and so many bytes, far below the 256 KiB that a
/// service takes unless it is told otherwise.
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
