package serve

import (
	"io"
	"log/slog"
)

// newLogger writes records as the host reads them: one JSON object a line, with
// time, level and message under the keys that go-plugin has for them.
func newLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) > 0 {
				return a
			}
			switch a.Key {
			case slog.TimeKey:
				a.Key = "@timestamp"
			case slog.LevelKey:
				a.Key = "@level"
			case slog.MessageKey:
				a.Key = "@message"
			}
			return a
		},
	}))
}
