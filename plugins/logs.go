package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/tenterhook/tenterhook/plugins/internal/wire"
)

// pluginKey is where a record has the plugin that it is of: not for that to say.
const pluginKey = "plugin"

// maxAttrs bounds the attributes of one record.
const maxAttrs = 64

// logLine makes a line that a plugin wrote to stderr a record of the host: one
// in go-plugin's JSON with its level and attributes, any other text at level
// debug, the words of a crash at level error.
func logLine(l *slog.Logger, plugin string, line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	ctx := context.Background()
	if record, ok := parseRecord(line); ok {
		if !l.Enabled(ctx, record.level) {
			return
		}
		l.LogAttrs(ctx, record.level, record.message, append([]slog.Attr{slog.String(pluginKey, plugin)}, record.attrs...)...)
		return
	}
	level := slog.LevelDebug
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
		level = slog.LevelError
	}
	l.LogAttrs(ctx, level, wire.FirstLine(text), slog.String(pluginKey, plugin))
}

type record struct {
	level   slog.Level
	message string
	attrs   []slog.Attr
}

var levels = map[string]slog.Level{
	"trace": slog.LevelDebug - 4, "debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError, // others are information, the zero value
}

func parseRecord(line []byte) (record, bool) {
	var fields map[string]any
	if line[0] != '{' || json.Unmarshal(line, &fields) != nil {
		return record{}, false
	}
	message, isRecord := fields["@message"].(string)
	if !isRecord {
		return record{}, false
	}
	word, _ := fields["@level"].(string)
	r := record{level: levels[strings.ToLower(word)], message: message}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if strings.HasPrefix(key, "@") || key == pluginKey || len(r.attrs) == maxAttrs {
			continue
		}
		r.attrs = append(r.attrs, slog.Any(key, fields[key]))
	}
	return r, true
}
