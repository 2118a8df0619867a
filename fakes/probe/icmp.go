package probe

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"
)

// dialICMP connects a ping socket (icmp, see icmp(7)) or a raw one to a literal
// address. Hand-made because package net offers no connected ping socket.
func dialICMP(network, address string) (net.Conn, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return nil, &noAttempt{fmt.Sprintf("%s needs a literal address: %v", network, err)}
	}
	kind := unix.SOCK_DGRAM
	if network == "raw" {
		kind = unix.SOCK_RAW
	}
	family, protocol := unix.AF_INET6, unix.IPPROTO_ICMPV6
	var remote unix.Sockaddr = &unix.SockaddrInet6{Addr: ip.As16()}
	if ip.Is4() {
		family, protocol = unix.AF_INET, unix.IPPROTO_ICMP
		remote = &unix.SockaddrInet4{Addr: ip.As4()}
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), network)
	defer func() { _ = file.Close() }() // FileConn duplicates it
	if err := unix.Connect(fd, remote); err != nil {
		return nil, os.NewSyscallError("connect", err)
	}
	return net.FileConn(file)
}

// echoRequest is an ICMP echo request with the payload, of the family of the
// address. The kernel does the checksum of ICMPv6.
func echoRequest(address string, payload []byte) []byte {
	var kind icmp.Type = ipv4.ICMPTypeEcho
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() {
		kind = ipv6.ICMPTypeEchoRequest
	}
	message := icmp.Message{Type: kind, Body: &icmp.Echo{ID: os.Getpid() & 0xffff, Seq: 1, Data: payload}}
	packet, _ := message.Marshal(nil) // an Echo body always encodes
	return packet
}
