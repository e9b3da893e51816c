package webhook

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/tenterhook/tenterhook/hook"
)

// ended tells a call whose time was up from one whose caller gave up.
func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, hook.ErrTimeout) {
		return hook.ErrTimeout
	}
	return cause
}

// over reports whether the call's time was up. A connection has the deadline of
// ctx as its own, and may notice it a moment before ctx does.
func over(ctx context.Context, err error) bool {
	var timeout net.Error
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) && errors.As(err, &timeout) && timeout.Timeout() {
		<-ctx.Done()
	}
	return ctx.Err() != nil
}

// broken is why there was no answer at all. It says what is known to be safe
// to say: neither the URL nor what came from the other side.
func (p *plan) broken(ctx context.Context, err error) error {
	if over(ctx, err) {
		return ended(ctx)
	}
	var local *localError
	if errors.As(err, &local) {
		return p.failure(hook.FailureStart, fault{"it resolves to an address that is not on the public Internet", localHint}, err)
	}
	f, known := explain(err)
	if !known {
		err = nil // it may quote what the server sent, and a server can send back what it got
	}
	return p.failure(hook.FailureTransport, f, err)
}

// failure is a failed call; where only a variable names the host, the cause is
// left out, which would name it too.
func (p *plan) failure(kind hook.Failure, f fault, cause error) *hook.Error {
	if p.hidden {
		cause = nil
	}
	return &hook.Error{Failure: kind, Reason: p.where + ": " + f.reason, Hint: f.hint, Err: cause}
}

// unread is why an answer could not be read to its end.
func (p *plan) unread(ctx context.Context, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, errOverflow):
		return p.failure(hook.FailureOverflow, fault{"its answer is longer than what is taken", "answer with one JSON object, and little else"}, nil)
	case over(ctx, err):
		return ended(ctx)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return p.failure(hook.FailureOutput, fault{"its answer is no gzip, as it says it is", "answer without a Content-Encoding"}, err)
	}
	return p.failure(hook.FailureTransport, fault{"its answer broke off", "see the server's log"}, err)
}

// closedIdle is in the error of net/http, which has no name, where a server
// closed a connection before the request was on it.
const closedIdle = "server closed idle connection"

// explain says what went wrong on the way, and what to do about it; false for
// what no other case is.
func explain(err error) (fault, bool) {
	var (
		dns     *net.DNSError
		op      *net.OpError
		errno   syscall.Errno
		timeout net.Error
	)
	if f, ok := explainTLS(err); ok {
		return f, true
	}
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fault{"there is no such host", "check the name in its url"}, true
	case errors.As(err, &dns):
		return fault{"the name server did not say where it is", "check the network and the name server"}, true
	case errors.Is(err, syscall.ECONNREFUSED):
		return fault{"the connection was refused", "is the server running, and on that port?"}, true
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return fault{"it cannot be reached from here", "check the network"}, true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed), strings.Contains(err.Error(), closedIdle):
		return fault{"the connection was closed before there was an answer", "see the server's log"}, true
	case errors.As(err, &timeout) && timeout.Timeout():
		return fault{"it took too long to connect", "check the network, and a firewall on the way"}, true
	case errors.As(err, &errno):
		return fault{"the connection broke: " + errno.Error(), "check the network"}, true
	case errors.As(err, &op):
		return fault{"the connection broke", "check the network"}, true
	}
	return fault{"what it answered is no HTTP, or has too long a header", "check the port in its url, and the server"}, false
}

// explainTLS is explain for what goes wrong in a handshake.
func explainTLS(err error) (fault, bool) {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		verify  *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &unknown):
		return fault{"no trusted authority has signed its certificate", "add its authority to the system's, or name it in SSL_CERT_FILE"}, true
	case errors.As(err, &name):
		return fault{"its certificate is for another name", "check the host in its url"}, true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fault{"its certificate has expired or is not valid yet", "renew it, or correct the clock"}, true
	case errors.As(err, &invalid), errors.As(err, &verify):
		return fault{"its certificate is not valid", "renew it"}, true
	case errors.As(err, &record):
		return fault{"it does not speak TLS on that port", "check the port, or write http:// in its url"}, true
	case errors.As(err, &alert):
		return fault{"the TLS handshake failed: " + alert.Error(), "check what TLS the server takes"}, true
	}
	return fault{}, false
}
