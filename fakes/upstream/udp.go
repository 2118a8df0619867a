package upstream

import (
	"net"
	"net/netip"
)

// fenceDatagram is the content of a datagram of our own.
const fenceDatagram = "bridgecheck fence"

// startUDP echoes datagrams and counts each by its sender.
func (s *Server) startUDP(where netip.AddrPort) error {
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(where))
	if err != nil {
		return err
	}
	s.atClose(func() { _ = socket.Close() })
	s.addr = socket.LocalAddr().(*net.UDPAddr).AddrPort()
	s.done.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, from, err := socket.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			s.mu.Lock()
			remote := netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
			s.arrivals = append(s.arrivals, arrival{remote: remote.String()})
			s.changed.Broadcast()
			s.mu.Unlock()
			if string(buffer[:n]) != fenceDatagram {
				_, _ = socket.WriteToUDPAddrPort(buffer[:n], from)
			}
		}
	})
	return nil
}
