// RegentHTTPClient: an HTTP client. Its own code on RegentHTTPCodec handles http and Unix sockets; libcurl, which is
// loaded for the first https URL, handles https. Each client has one thread for all its calls, so a call that waits a
// minute for its response needs only a socket and does not wake the thread.
//
// Not in this target: the decision what to call (targets above), retries with back-off, JSON, cookies and caching. The
// client ignores proxy settings in the environment: a variable that was set for another program must not send secrets
// elsewhere.
