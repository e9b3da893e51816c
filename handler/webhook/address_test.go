package webhook

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestN3LocalAddressesInEveryForm(t *testing.T) {
	for addrs, want := range map[string]bool{
		"127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3":               true,
		"10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1":          true,
		"100.64.0.1 100.127.255.255 169.254.169.254 192.0.0.8":    true,
		"198.18.0.1 224.0.0.1 239.1.1.1 240.0.0.1":                true,
		"255.255.255.255 168.63.129.16":                           true,
		":: ::1 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00::1":     true,
		"fd00:ec2::254 ff02::1 100::1 2001::1 64:ff9b:1::1":       true,
		"::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1":            true,
		"::ffff:0:127.0.0.1 64:ff9b::127.0.0.1":                   true,
		"64:ff9b::a9fe:a9fe 2002:7f00:1:: 2002:c0a8:101::1":       true,
		"2606:4700::5efe:10.0.0.1 2606:4700::200:5efe:10.0.0.1":   true,
		"1.1.1.1 8.8.8.8 172.32.0.1 172.15.0.1 100.128.0.1":       false,
		"100.63.255.255 192.167.1.1 169.253.1.1 223.255.255.1":    false,
		"2606:4700::1111 2a00:1450::1 ::ffff:8.8.8.8":             false,
		"64:ff9b::8.8.8.8 2002:808:808:: 2606:4700::5efe:1.1.1.1": false,
	} {
		for _, s := range strings.Fields(addrs) {
			a := netip.MustParseAddr(s)
			if got := isLocal(a); got != want {
				t.Errorf("isLocal(%s) = %v", a, got)
			}
			var refused *localError
			err := refuseLocal(context.Background(), "tcp", netip.AddrPortFrom(a, 80).String(), nil)
			if errors.As(err, &refused) != want {
				t.Errorf("dialling %s: %v", a, err)
			}
		}
	}
}

func TestN3AnEmbeddedAddressIsJudgedAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v4 := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4")))
		for _, e := range embedding {
			b := e.Addr().As16()
			four := v4.As4()
			copy(b[e.at:], four[:])
			if a := netip.AddrFrom16(b); isLocal(a) != isLocal(v4) {
				t.Fatalf("isLocal(%s) = %v, isLocal(%s) = %v", a, isLocal(a), v4, isLocal(v4))
			}
		}
	})
}

func TestAnAddressThatCannotBeReadIsNotDialled(t *testing.T) {
	if refuseLocal(context.Background(), "tcp", "nowhere", nil) == nil {
		t.Error("nowhere may be dialled")
	}
}
