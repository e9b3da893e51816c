// Package oci moves packs between a folder, a registry or a layout directory, and
// the store on this machine.
//
// Stage: the commands of tenterhook-fleet. A registry of hooks reads the store
// without it. What a registry or a layout says is believed after its digest was
// compared: it can withhold a pack, and bring no other one.
package oci
