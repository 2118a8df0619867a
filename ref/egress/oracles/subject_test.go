package oracles

import (
	"encoding/json"
	"fmt"
	"net"
	"time"
)

// subject is a proxy under the rules of the lab.
type subject struct {
	// version tells what is installed, with an error for nothing.
	version func() (string, error)
	// start serves on a loopback port and returns its address. All ends with the
	// process. dir is for files.
	start func(dir string) (string, error)
}

var subjects = map[string]subject{
	"ours":        {ourVersion, startOurs},
	"goproxy":     {moduleVersion("github.com/elazarl/goproxy"), startGoproxy},
	"smokescreen": {moduleVersion("github.com/stripe/smokescreen"), startSmokescreen},
	"tinyproxy":   {tinyproxyVersion, startTinyproxy},
	"squid":       {squidVersion, startSquid},
}

// judge runs every vector against a proxy, in namespaces that are for it alone.
func judge(name, dir string, shard int) result {
	if err := allAddressesLocal(); err != nil {
		return result{Unable: err.Error()}
	}
	if err := replaceSystemFiles(dir); err != nil {
		return result{Unable: err.Error()}
	}
	r, err := run(name, dir, shard)
	if err != nil {
		return result{Broken: err.Error()}
	}
	return r
}

func run(name, dir string, shard int) (result, error) {
	var r result
	names, err := newDNS(scripted())
	if err != nil {
		return r, err
	}
	world, err := newFar()
	if err != nil {
		return r, err
	}
	addr, err := subjects[name].start(dir)
	if err != nil {
		return r, err
	}
	if err := await(addr); err != nil {
		return r, err
	}
	vectors, err := allVectors()
	if err != nil {
		return r, err
	}
	for i, v := range vectors {
		if i%shards != shard {
			continue
		}
		o, err := send(addr, v, world)
		if err != nil {
			return r, fmt.Errorf("%s: %w", v.name, err)
		}
		if o.Dialled, o.Seen, err = world.taken(); err != nil {
			return r, fmt.Errorf("%s: %w", v.name, err)
		}
		o.Seen = arrived(o.Seen, v.farGets, o.Tunnel)
		o.Looked = names.taken()
		r.Outcomes = append(r.Outcomes, o)
	}
	return r, nil
}

// await returns once something listens on addr.
func await(addr string) error {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(end) {
			return fmt.Errorf("the proxy does not listen: %w", err)
		}
	}
}

// message is that of a refusal of ours, empty for any other body.
func message(body []byte) string {
	var refusal struct{ Message string }
	if json.Unmarshal(body, &refusal) != nil {
		return ""
	}
	return refusal.Message
}
