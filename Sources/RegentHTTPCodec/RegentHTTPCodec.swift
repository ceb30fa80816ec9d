// RegentHTTPCodec: parses and writes HTTP/1.1 messages (RFC 9112) and URLs: request and response heads, chunked bodies,
// percent-encoding and forms. It uses no sockets, no clock and no Foundation. HTTPServer and RegentHTTPClient do the
// input and output.
