import CRegentCurl
import Glibc

/// The functions of libcurl, looked up at run time.
///
/// Each client's thread looks up its own copy (a few microseconds), so that threads share no pointers.
@unsafe struct CurlLibrary {
  let setOption: regent_easy_setopt
  let getInfo: regent_easy_getinfo
  let setMultiOption: regent_multi_setopt
  let makeEasy: regent_easy_init
  let freeEasy: regent_easy_cleanup
  let makeMulti: regent_multi_init
  let freeMulti: regent_multi_cleanup
  let addHandle: regent_multi_handle
  let removeHandle: regent_multi_handle
  let socketAction: regent_multi_socket_action
  let readMessage: regent_multi_info_read
  let appendToList: regent_slist_append
  let freeList: regent_slist_free_all
  let openSSL: OpenSSLFunctions

  /// The functions of the OpenSSL with which libcurl is linked.
  @unsafe struct OpenSSLFunctions {
    let parameters: regent_ssl_ctx_get0_param
    let setTime: regent_verify_param_set_time
    let peerCertificate: regent_ssl_get1_peer_certificate
    let notBefore: regent_x509_get0_time
    let notAfter: regent_x509_get0_time
    let compareTime: regent_x509_cmp_time
    let freeCertificate: regent_x509_free
  }

  /// Loads libcurl at the first use in the process, and looks up its functions.
  ///
  /// - Throws: `.libraryMissing` with the reason.
  init() throws(ClientError.Kind) {
    let loaded = try loadedLibrary.get()
    guard let handle = unsafe UnsafeMutableRawPointer(bitPattern: loaded) else {
      throw .libraryMissing("it could not be loaded")
    }
    unsafe setOption = try find("curl_easy_setopt", in: handle)
    unsafe getInfo = try find("curl_easy_getinfo", in: handle)
    unsafe setMultiOption = try find("curl_multi_setopt", in: handle)
    unsafe makeEasy = try find("curl_easy_init", in: handle)
    unsafe freeEasy = try find("curl_easy_cleanup", in: handle)
    unsafe makeMulti = try find("curl_multi_init", in: handle)
    unsafe freeMulti = try find("curl_multi_cleanup", in: handle)
    unsafe addHandle = try find("curl_multi_add_handle", in: handle)
    unsafe removeHandle = try find("curl_multi_remove_handle", in: handle)
    unsafe socketAction = try find("curl_multi_socket_action", in: handle)
    unsafe readMessage = try find("curl_multi_info_read", in: handle)
    unsafe appendToList = try find("curl_slist_append", in: handle)
    unsafe freeList = try find("curl_slist_free_all", in: handle)
    unsafe openSSL = OpenSSLFunctions(
      parameters: try find("SSL_CTX_get0_param", in: handle),
      setTime: try find("X509_VERIFY_PARAM_set_time", in: handle),
      peerCertificate: try find("SSL_get1_peer_certificate", in: handle),
      notBefore: try find("X509_get0_notBefore", in: handle),
      notAfter: try find("X509_get0_notAfter", in: handle),
      compareTime: try find("X509_cmp_time", in: handle),
      freeCertificate: try find("X509_free", in: handle))
  }
}

/// The handle of the loaded library as a number, or the error.
///
/// The library is loaded and initialised once in the process.
private let loadedLibrary: Result<UInt, ClientError.Kind> = {
  guard let handle = unsafe dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL) else {
    return .failure(.libraryMissing("libcurl.so.4 is not installed"))
  }
  do throws(ClientError.Kind) {
    let initialise: regent_global_init = unsafe try find("curl_global_init", in: handle)
    let version: regent_version_info = unsafe try find("curl_version_info", in: handle)
    // Call this function of OpenSSL before libcurl initialises OpenSSL. Otherwise `exit` frees OpenSSL's data while
    // another thread makes a transfer, and the program ends with a signal instead of its exit code.
    let start: regent_openssl_init = unsafe try find("OPENSSL_init_crypto", in: handle)
    _ = start(regent_openssl_no_atexit(), nil)
    guard initialise(regent_global_all()) == CURLE_OK else {
      return .failure(.libraryMissing("it does not start"))
    }
    // The client chooses the time at which certificates are checked, which only libcurl with OpenSSL supports.
    let backend = unsafe version(CURLVERSION_FIRST)?.pointee.ssl_version
    guard let backend = unsafe backend, unsafe String(cString: backend).hasPrefix("OpenSSL/3")
    else {
      return .failure(.libraryMissing("the one installed is not built with OpenSSL 3"))
    }
    return .success(UInt(bitPattern: handle))
  } catch {
    return .failure(error)
  }
}()

/// Looks up a function of libcurl, or of OpenSSL, with which libcurl is linked.
private func find<Function>(
  _ name: String, in handle: UnsafeMutableRawPointer
) throws(ClientError.Kind) -> Function {
  guard let address = unsafe dlsym(handle, name) else {
    throw .libraryMissing("the one installed has no \(name)")
  }
  return unsafe unsafeBitCast(address, to: Function.self)
}
