// RegentHTTPClient: calls out. Plain HTTP and Unix sockets are spoken by us on RegentHTTPCodec; https goes through
// libcurl, which is loaded when the first https URL is used. One thread per client waits for all its calls: a call that
// waits a minute for its answer costs a socket and no wake-up. It does not own: what is called and why (the use cases
// above), retries with back-off, JSON, cookies, caching. Proxy settings of the environment are not followed: a variable
// set for another program must not move secrets elsewhere.
