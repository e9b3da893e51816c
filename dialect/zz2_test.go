package dialect

import "github.com/tenterhook/tenterhook/hook"

func hookSource(p string) hook.Source { return hook.Source{Path: p} }
