package dns

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// FuzzReply: whatever comes, an answer is a DNS message with the query's id.
func FuzzReply(f *testing.F) {
	name := dnsmessage.MustNewName("a.test.")
	for _, kind := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA, dnsmessage.TypeTXT} {
		query := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: 7},
			Questions: []dnsmessage.Question{{Name: name, Type: kind, Class: dnsmessage.ClassINET}},
		}
		packed, err := query.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Add(make([]byte, 12))
	f.Fuzz(func(t *testing.T, packed []byte) {
		s := &Server{scripts: map[string]*script{}}
		s.Set("a.test", CNAME("b.test"))
		s.Set("b.test", Addresses("203.0.113.1", "2001:db8::1"))
		answer := s.reply(packed, "udp")
		if answer == nil {
			return
		}
		var message dnsmessage.Message
		if err := message.Unpack(answer); err != nil || !message.Response {
			t.Fatalf("%x: %x, %v", packed, answer, err)
		}
		if packed[0] != answer[0] || packed[1] != answer[1] {
			t.Errorf("%x: another id in %x", packed, answer)
		}
	})
}
