internal import CArgon2
internal import RegentCryptography

/// Argon2id, run on the calling thread.
enum Argon2 {
  /// Hashes a password with Argon2id.
  ///
  /// This fails only when there is not enough memory.
  static func hash(
    _ password: Secret, salt: [UInt8], count: Int, _ parameters: Argon2Parameters,
    key: [UInt8] = [], associatedData: [UInt8] = []
  ) throws(PasswordError) -> [UInt8] {
    var salt = salt
    var key = key
    var associatedData = associatedData
    var output = [UInt8](repeating: 0, count: count)
    let result = password.withBytes { password in
      unsafe password.withUnsafeBufferPointer { password in
        unsafe output.withUnsafeMutableBufferPointer { output in
          unsafe salt.withUnsafeMutableBufferPointer { salt in
            unsafe key.withUnsafeMutableBufferPointer { key in
              unsafe associatedData.withUnsafeMutableBufferPointer { associatedData in
                var context = unsafe argon2_context()
                unsafe context.out = output.baseAddress
                unsafe context.outlen = UInt32(output.count)
                // The cast from const is safe. libargon2 writes to the password only with ARGON2_FLAG_CLEAR_PASSWORD,
                // which is not set here.
                unsafe context.pwd = UnsafeMutablePointer(mutating: password.baseAddress)
                unsafe context.pwdlen = UInt32(password.count)
                unsafe context.salt = salt.baseAddress
                unsafe context.saltlen = UInt32(salt.count)
                unsafe context.secret = key.baseAddress
                unsafe context.secretlen = UInt32(key.count)
                unsafe context.ad = associatedData.baseAddress
                unsafe context.adlen = UInt32(associatedData.count)
                unsafe context.t_cost = parameters.passes
                unsafe context.m_cost = parameters.memory
                unsafe context.lanes = parameters.lanes
                // One thread computes all lanes (the parallel parts of Argon2), so that the number of hashing threads
                // limits the cores that hashing uses.
                unsafe context.threads = 1
                unsafe context.version = ARGON2_VERSION_13.rawValue
                return unsafe argon2id_ctx(&context)
              }
            }
          }
        }
      }
    }
    guard result == ARGON2_OK.rawValue else { throw .outOfMemory }
    return output
  }
}
