package webhook

import (
	"net/http"
	"net/textproto"
	"strings"
)

// ownHeaders are the headers that a hook cannot set: they belong to the connection,
// say how long the body is, or would let the answer come in a form that is not
// read here.
var ownHeaders = map[string]bool{
	"Accept-Encoding": true, "Connection": true, "Content-Encoding": true, "Content-Length": true, "Expect": true,
	"Host": true, "Http2-Settings": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true,
	"Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// newHeader has what every request says of itself.
func newHeader() http.Header {
	return http.Header{
		"Accept":       {"application/json"},
		"Content-Type": {"application/json"},
		"User-Agent":   {"tenterhook"},
		// Present and empty, it is not sent, and tells net/http that a request
		// may go out again where the server had just closed the connection that
		// was kept open.
		"X-Idempotency-Key": nil,
	}
}

// headerName checks the name of a header.
func headerName(name string) (string, *fault) {
	for _, r := range name {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) {
			return "", &fault{"it is no name of a header", "a name has letters, digits and hyphens"}
		}
	}
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	switch {
	case name == "":
		return "", &fault{"it is no name of a header", "a name has letters, digits and hyphens"}
	case ownHeaders[canonical]:
		return "", &fault{"the request sets it itself", "leave it out"}
	}
	return canonical, nil
}

// headerValue checks a value, and never shows it.
func headerValue(value string) *fault {
	for i := range len(value) {
		if b := value[i]; b < ' ' && b != '\t' || b == 0x7f {
			return &fault{"there is a line break or another control character in its value", "take it out, and out of its variables"}
		}
	}
	return nil
}
