// Package fleetpolicy says which signed documents a machine obeys. It trusts keys,
// and neither the bearer of a document nor its folder.
//
// Stage: loading. Package registry reads the documents in force from a [Store],
// the programs of the fleet put documents there. It imports hook, dialect and
// trust.
//
// A document is the payload of a DSSE envelope. There are two channels, each with
// keys and versions of its own: "packs" says which packs run and what the settings
// are, "guard" denies, asks and switches hooks off. No document holds code.
package fleetpolicy
