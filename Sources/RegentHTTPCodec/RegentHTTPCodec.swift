// RegentHTTPCodec: the bytes of HTTP/1.1 (RFC 9112) and of URLs: request and response heads, chunked bodies, percent
// and form decoding. No sockets, no clock, no Foundation. HTTPServer and RegentHTTPClient perform the input and output.
