// Package oracles compares the proxy of package egress with others: goproxy and
// smokescreen, which are Go libraries, and tinyproxy and squid where they are
// installed. It has tests alone, in a module of its own, so that nobody else
// carries what the others need.
//
// Each proxy runs in a network namespace of its own in which every address is
// local: nothing leaves the machine, and the far side sees which address was
// dialled, whatever it is. All get the same rules, the same scripted DNS server
// and the same vectors, one after another. What they do is told by the far
// side, the DNS server and the client, never by the proxy.
//
// The files in testdata are the result: ours.txt is what our proxy does, the
// others list every vector on which one of them differs, with the section that
// says why ours is right. To be alike is not the aim: tinyproxy and squid repair
// what they can, and none of the four judges every address. After a change run
//
//	go test -run TestOracles -update
//
// and read the difference.
package oracles
