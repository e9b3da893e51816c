package webhook

import (
	"encoding/binary"
	"net/netip"
)

// localRanges are the ranges of this machine, of its network or of no machine
// in particular: the special-purpose registries of RFC 6890 without the ranges
// for documentation, which lead nowhere.
var localRanges = prefixes(
	"0.0.0.0/8",        // this network; 0.0.0.0 connects to this machine
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // shared address space of carriers
	"127.0.0.0/8",      // loopback
	"169.254.0.0/16",   // link-local, and the metadata services of clouds
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
	"::/96",            // unspecified, loopback, and IPv4-compatible addresses
	"64:ff9b:1::/48",   // NAT64 of a local network
	"100::/64",         // discarded
	"2001::/23",        // protocol assignments; Teredo
	"fc00::/7",         // unique local
	"fe80::/10",        // link-local
	"fec0::/10",        // site-local
	"ff00::/8",         // multicast
	"168.63.129.16/32", // the metadata service of Azure, an address that only looks public
)

// embedding are ranges of IPv6 that carry an IPv4 address, from a byte on.
var embedding = []struct {
	netip.Prefix
	at int
}{
	{netip.MustParsePrefix("::ffff:0:0/96"), 12},   // mapped
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translated (RFC 2765)
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64 (RFC 6052)
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4 (RFC 3056)
}

func prefixes(list ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(list))
	for i, s := range list {
		ps[i] = netip.MustParsePrefix(s)
	}
	return ps
}

// isLocal reports whether an address needs the operator's consent: it, or the
// IPv4 address that it carries, is not one of the public Internet.
func isLocal(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, p := range localRanges {
		if p.Contains(a) {
			return true
		}
	}
	if !a.Is6() {
		return false
	}
	b := a.As16()
	for _, e := range embedding {
		if e.Contains(a) && isLocal(netip.AddrFrom4([4]byte(b[e.at:]))) {
			return true
		}
	}
	// ISATAP (RFC 5214) has it in the last four bytes, in any network.
	if id := binary.BigEndian.Uint32(b[8:]); id == 0x00005efe || id == 0x02005efe {
		return isLocal(netip.AddrFrom4([4]byte(b[12:])))
	}
	return false
}
