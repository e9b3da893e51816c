package version

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersionIsTheLinkersOrTheToolchains(t *testing.T) {
	setting := func(kv ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}
		for i := 0; i < len(kv); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: kv[i], Value: kv[i+1]})
		}
		return info
	}
	devel := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
	for _, tc := range []struct {
		info                    *debug.BuildInfo
		version, commit         string
		wantVersion, wantCommit string
	}{
		{nil, "", "", "devel", "unknown"},
		{devel, "", "", "devel", "unknown"},
		{setting(), "", "", "v1.2.3", "unknown"},
		{setting("vcs.revision", "0123456789abcdef", "vcs.modified", "false"), "", "", "v1.2.3", "0123456789ab"},
		{setting("vcs.revision", "0123456789abcdef", "vcs.modified", "true"), "", "", "v1.2.3", "0123456789ab+dirty"},
		{setting("vcs.revision", "0123456789abcdef", "vcs.modified", "true"), "v9", "feed", "v9", "feed"},
	} {
		want := Build{tc.wantVersion, tc.wantCommit, runtime.Version()}
		if got := of(tc.info, tc.version, tc.commit); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
