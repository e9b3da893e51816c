// Package webhook runs hooks of kind "http": the event is posted to a URL as
// JSON, and the body of the answer is read as a command's stdout would be.
//
// Stage: dispatch. The registry makes one Handler, hands it the settings with
// Configure, and calls it for every hook of the kind.
//
// # What may be reached
//
// Nothing, unless settings allow it: a URL must match a pattern of
// allowed_http_hook_urls, and the address that its name resolves to must be a
// public one unless allow_local_http_hook_targets is true. Both are checked on
// what is really sent: the first on the URL after its variables are replaced,
// in the one form that is left of it then, the second on the address as it is
// dialled. Redirects are not followed, and HTTP_PROXY is not respected unless the
// host asks for it.
//
// # Patterns
//
// A pattern is matched part by part against the parsed URL, never as text:
//
//   - The scheme, http or https, is exact.
//   - The host is compared by labels. A "*" inside a label stands for a part of
//     that label; as the first label it stands for one or more labels, so that
//     "*.example.com" is everything below example.com; alone it is every host.
//     The last label has none, but for addresses such as 192.168.1.*.
//   - The port is the written one, or the scheme's own; "*" is any.
//   - In the path a "*" stands for a part of one segment; at the end of the
//     pattern it stands for all that follows, slashes and the query included.
//     Without it a query is refused, unless the pattern has one too ("?" is
//     no wildcard).
//   - A "*" that ends a pattern without a path also stands for any path. Right
//     behind a letter or a digit of the host or the port it stands for nothing
//     else: "https://hooks.example.com*" is that host with any path, and
//     neither hooks.example.com.evil.com nor hooks.example.com@evil.com.
//   - "*" alone is every URL.
//
// Users, fragments, backslashes, dot segments, encoded slashes, hosts that are
// not ASCII and numbers that are no dotted address are refused in both; letter
// case, a trailing dot and needless percent-encoding are evened out in both.
package webhook
