package wire

import (
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The numbers of the fields that no version of the protocol ever gets.
const (
	greaseFirst = 50000
	greaseCount = 10000
)

// Grease adds unknown fields to every other request, so that no plugin comes to
// rely on their absence.
func Grease(m proto.Message) {
	r := rand.Uint64()
	if r&1 == 0 {
		return
	}
	number := protowire.Number(greaseFirst + (r>>8)%greaseCount)
	var b []byte
	switch r >> 1 & 3 {
	case 0:
		b = protowire.AppendTag(b, number, protowire.VarintType)
		b = protowire.AppendVarint(b, r)
	case 1:
		b = protowire.AppendTag(b, number, protowire.Fixed64Type)
		b = protowire.AppendFixed64(b, r)
	case 2:
		b = protowire.AppendTag(b, number, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, uint32(r))
	default:
		b = protowire.AppendTag(b, number, protowire.BytesType)
		b = protowire.AppendBytes(b, make([]byte, r>>3&15))
	}
	m.ProtoReflect().SetUnknown(b)
}
