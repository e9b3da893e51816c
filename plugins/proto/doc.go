// Package proto is the contract between a host of hooks and its plugins: the
// gRPC service of hook.proto, and the constants of the handshake before it.
//
// # Audience
//
// Authors of plugins in languages other than Go, and of hosts. Who writes a
// plugin in Go uses package serve, and needs nothing of this one.
//
// # Contract
//
// A plugin is an executable regular file named tenterhook-plugin-NAME that only
// its owner can write. The host starts it with
//
//   - its package's folder as working directory, and in TENTERHOOK_PLUGIN_DIR:
//     the file that runs is a private copy whose digest was checked, so what
//     is beside the plugin is not found beside the file that runs;
//   - an empty stdin;
//   - an environment of PATH, HOME, TMPDIR, the locale and the time zone, plus
//     what the operator allowed, plus what the handshake needs;
//   - a process group of its own, which ends with the plugin and with the host.
//
// The handshake is that of hashicorp/go-plugin. The plugin refuses to work
// unless the variable [CookieKey] is [CookieValue]. It picks the highest version
// that it and the comma-separated list in PLUGIN_PROTOCOL_VERSIONS share, or its
// lowest if there is none; listens on a Unix socket in the folder that
// PLUGIN_UNIX_SOCKET_DIR names (on Windows on 127.0.0.1); and prints one line of
// at most 8 KiB on stdout:
//
//	1|VERSION|unix|/path/of/the/socket|grpc|CERTIFICATE
//
// CERTIFICATE is the base64 (without padding) of the DER of a certificate for
// "localhost" that the plugin made for this run, and PLUGIN_CLIENT_CERT holds
// the PEM of the certificate that the host shows: with these two both sides speak
// TLS and know each other. A plugin may leave the certificate out. It is then
// spoken to in the clear, and only over a Unix socket in the folder above, which
// no other user can enter.
//
// What a plugin prints on stdout after that line is thrown away. Each line on
// stderr is a log record of the host: as JSON with @level, @message and further
// attributes, or as plain text at level debug.
//
// SIGTERM asks the plugin to end; a second later it is killed, and with it all
// that it started. It is never sent while calls are under way, unless they are
// not waited for.
//
// A request may be large (a tool's input is part of it), so a plugin should not
// limit what it receives; an answer of more than 4 MiB is refused.
//
// # Stability
//
// Within one version of the protocol, fields and calls are added and none
// changes its meaning, so each side ignores what it does not know. To keep that
// true, hosts send unknown fields, numbered 50000 to 59999, at random. A change
// that the other side must know of raises [Version]; what speaks a version speaks
// the one before it too.
package proto

//go:generate go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
//go:generate go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative hook.proto

// The handshake.
const (
	// CookieKey and CookieValue tell a plugin that a host of this protocol
	// started it. They keep nothing secret.
	CookieKey   = "TENTERHOOK_PLUGIN"
	CookieValue = "hooks"

	// Version is the version of this protocol, MinVersion the oldest version that
	// hosts and package serve still speak.
	Version    = 1
	MinVersion = 1

	// BinaryPrefix is how the name of a plugin's executable begins.
	BinaryPrefix = "tenterhook-plugin-"

	// DirVariable names the variable that holds the package's folder.
	DirVariable = "TENTERHOOK_PLUGIN_DIR"
)
