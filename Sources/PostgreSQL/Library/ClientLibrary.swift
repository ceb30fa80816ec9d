import CPostgreSQL
import Glibc

/// libpq's functions, looked up at run time.
///
/// Each connection looks up its own copy, which takes a few microseconds, so that threads share no function pointers.
@safe final class ClientLibrary {
  let connectStart: regent_pq_connect_start
  let connectPoll: regent_pq_connect_poll
  let finish: regent_pq_finish
  let status: regent_pq_status
  let transactionStatus: regent_pq_transaction_status
  let parameterStatus: regent_pq_parameter_status
  let serverVersion: regent_pq_server_version
  let errorMessage: regent_pq_error_message
  let socket: regent_pq_socket
  let backend: regent_pq_backend
  let needsPassword: regent_pq_needs_password
  let usesTLS: regent_pq_ssl_in_use
  let setVerbosity: regent_pq_set_verbosity
  let setNoticeReceiver: regent_pq_set_notice_receiver
  let setNonBlocking: regent_pq_set_nonblocking
  let sendQuery: regent_pq_send_query
  let sendPrepare: regent_pq_send_prepare
  let sendDescribe: regent_pq_send_describe
  let sendPrepared: regent_pq_send_prepared
  let getResult: regent_pq_get_result
  let isBusy: regent_pq_is_busy
  let consumeInput: regent_pq_consume_input
  let flush: regent_pq_flush
  let enterPipeline: regent_pq_enter_pipeline
  let exitPipeline: regent_pq_exit_pipeline
  let pipelineSync: regent_pq_pipeline_sync
  let notifications: regent_pq_notifies
  let free: regent_pq_free
  let resultStatus: regent_pq_result_status
  let errorField: regent_pq_error_field
  let rowCount: regent_pq_row_count
  let columnCount: regent_pq_column_count
  let columnName: regent_pq_column_name
  let columnType: regent_pq_column_type
  let value: regent_pq_value
  let length: regent_pq_length
  let isNull: regent_pq_is_null
  let parameterCount: regent_pq_parameter_count
  let parameterType: regent_pq_parameter_type
  let command: regent_pq_command
  let changed: regent_pq_changed
  let clear: regent_pq_clear

  /// Loads libpq on the first use in this process.
  init() throws(PostgreSQLError) {
    let loaded = try loadedLibrary.get()
    guard let handle = unsafe UnsafeMutableRawPointer(bitPattern: loaded) else {
      throw missing("it could not be loaded")
    }
    unsafe connectStart = try find("PQconnectStartParams", in: handle)
    unsafe connectPoll = try find("PQconnectPoll", in: handle)
    unsafe finish = try find("PQfinish", in: handle)
    unsafe status = try find("PQstatus", in: handle)
    unsafe transactionStatus = try find("PQtransactionStatus", in: handle)
    unsafe parameterStatus = try find("PQparameterStatus", in: handle)
    unsafe serverVersion = try find("PQserverVersion", in: handle)
    unsafe errorMessage = try find("PQerrorMessage", in: handle)
    unsafe socket = try find("PQsocket", in: handle)
    unsafe backend = try find("PQbackendPID", in: handle)
    unsafe needsPassword = try find("PQconnectionNeedsPassword", in: handle)
    unsafe usesTLS = try find("PQsslInUse", in: handle)
    unsafe setVerbosity = try find("PQsetErrorVerbosity", in: handle)
    unsafe setNoticeReceiver = try find("PQsetNoticeReceiver", in: handle)
    unsafe setNonBlocking = try find("PQsetnonblocking", in: handle)
    unsafe sendQuery = try find("PQsendQueryParams", in: handle)
    unsafe sendPrepare = try find("PQsendPrepare", in: handle)
    unsafe sendDescribe = try find("PQsendDescribePrepared", in: handle)
    unsafe sendPrepared = try find("PQsendQueryPrepared", in: handle)
    unsafe getResult = try find("PQgetResult", in: handle)
    unsafe isBusy = try find("PQisBusy", in: handle)
    unsafe consumeInput = try find("PQconsumeInput", in: handle)
    unsafe flush = try find("PQflush", in: handle)
    unsafe enterPipeline = try find("PQenterPipelineMode", in: handle)
    unsafe exitPipeline = try find("PQexitPipelineMode", in: handle)
    unsafe pipelineSync = try find("PQpipelineSync", in: handle)
    unsafe notifications = try find("PQnotifies", in: handle)
    unsafe free = try find("PQfreemem", in: handle)
    unsafe resultStatus = try find("PQresultStatus", in: handle)
    unsafe errorField = try find("PQresultErrorField", in: handle)
    unsafe rowCount = try find("PQntuples", in: handle)
    unsafe columnCount = try find("PQnfields", in: handle)
    unsafe columnName = try find("PQfname", in: handle)
    unsafe columnType = try find("PQftype", in: handle)
    unsafe value = try find("PQgetvalue", in: handle)
    unsafe length = try find("PQgetlength", in: handle)
    unsafe isNull = try find("PQgetisnull", in: handle)
    unsafe parameterCount = try find("PQnparams", in: handle)
    unsafe parameterType = try find("PQparamtype", in: handle)
    unsafe command = try find("PQcmdStatus", in: handle)
    unsafe changed = try find("PQcmdTuples", in: handle)
    unsafe clear = try find("PQclear", in: handle)
  }
}

/// The handle of the loaded libpq as a number, or the reason why loading failed.
///
/// It is loaded once in a process.
private let loadedLibrary: Result<UInt, PostgreSQLError> = {
  guard let handle = unsafe dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL) else {
    return .failure(missing("libpq.so.5 is not installed"))
  }
  do throws(PostgreSQLError) {
    // OpenSSL must not clean up at exit. Otherwise `exit` frees OpenSSL's data while another thread uses a connection,
    // and the program dies by a signal.
    let start: regent_pq_openssl_init = unsafe try find("OPENSSL_init_crypto", in: handle)
    _ = start(regent_pq_openssl_no_atexit(), nil)
    return .success(UInt(bitPattern: handle))
  } catch {
    return .failure(error)
  }
}()

/// Looks up a function of libpq, or of OpenSSL, on which libpq depends.
private func find<Function>(
  _ name: String, in handle: UnsafeMutableRawPointer
) throws(PostgreSQLError) -> Function {
  guard let address = unsafe dlsym(handle, name) else { throw missing("the one installed has no \(name)") }
  return unsafe unsafeBitCast(address, to: Function.self)
}

private func missing(_ why: String) -> PostgreSQLError {
  PostgreSQLError(
    .libraryMissing, "the client library of PostgreSQL cannot be used: \(why)",
    hint: "install libpq 14 or newer (Debian: apt-get install libpq5)")
}
