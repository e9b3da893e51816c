// Package pack says what a pack is: a folder of hooks that a digest names. It
// reads packs from the store on this machine, and knows nothing of registries.
//
// Stage: before discovery, for the packs that settings name. The registry and
// the commands of tenterhook-fleet import it. It needs the standard library alone.
//
// A pack is an OCI artifact. Its digest is that of the manifest, which holds the
// digests of a config and of one layer. The config lists every file with its size
// and its digest; the layer is a tar of the files, in the config's order. So the
// digest alone says what each file must be, and the store is checked file by file:
//
//	p, err := pack.Open(stateDir, "sha256:2c26…")
//	changed := p.Changed() // "" = every file is as the digest says
package pack
