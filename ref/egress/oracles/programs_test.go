package oracles

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// programAddr is where the proxies that are programs listen: nothing else does,
// in their namespace.
const programAddr = "127.0.0.1:3128"

// find looks where Debian puts daemons too, which is not in everybody's PATH.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + name)
}

func programVersion(name, flag, pattern string) (string, error) {
	path, err := find(name)
	if err != nil {
		return "", err
	}
	out, err := exec.Command(path, flag).CombinedOutput()
	m := regexp.MustCompile(pattern).FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s %s does not tell a version: %w in %.80q", name, flag, err, out)
	}
	return string(m[1]), nil
}

func tinyproxyVersion() (string, error) { return programVersion("tinyproxy", "-v", `tinyproxy (\S+)`) }

func squidVersion() (string, error) { return programVersion("squid", "-v", `Version (\S+)`) }

// startProgram runs a proxy with its configuration file.
func startProgram(name, dir, config string, args ...string) (string, error) {
	path, err := find(name)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, name+".conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command(path, append(args, file)...)
	cmd.Stderr = os.Stderr // shown if the lab breaks
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start %s: %w", name, err)
	}
	return programAddr, nil
}

// startTinyproxy has ports for CONNECT alone, and no notion of addresses.
func startTinyproxy(dir string) (string, error) {
	filter := filepath.Join(dir, "filter")
	var list strings.Builder
	for _, h := range allowedHosts {
		if suffix, glob := globSuffix(h); glob {
			fmt.Fprintf(&list, "\\.%s$\n", regexp.QuoteMeta(suffix))
		} else {
			fmt.Fprintf(&list, "^%s$\n", regexp.QuoteMeta(h))
		}
	}
	if err := os.WriteFile(filter, []byte(list.String()), 0o600); err != nil {
		return "", err
	}
	config := "Listen 127.0.0.1\nPort 3128\nTimeout 1\nMaxClients 100\nAllow 127.0.0.1\nLogLevel Critical\n" +
		"Filter \"" + filter + "\"\nFilterExtended On\nFilterDefaultDeny Yes\n"
	for _, p := range allowedPorts {
		config += fmt.Sprintf("ConnectPort %d\n", p)
	}
	return startProgram("tinyproxy", dir, config, "-d", "-c")
}

// startSquid follows the order of its recommended configuration, with the list
// first so that no refused name is looked up, and with the special-use ranges of
// its documentation.
func startSquid(dir string) (string, error) {
	var names, literals []string
	for _, h := range allowedHosts {
		switch suffix, glob := globSuffix(h); {
		case glob:
			names = append(names, "."+suffix)
		case strings.Contains(h, ":"):
			literals = append(literals, h)
		default:
			names = append(names, h)
		}
	}
	ports := strings.Trim(fmt.Sprint(allowedPorts), "[]")
	config := `http_port ` + programAddr + `
acl good dstdomain -n ` + strings.Join(names, " ") + `
acl literal dst -n ` + strings.Join(literals, " ") + `
acl ports port ` + ports + `
acl inside dst 0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16
acl inside dst ::/128 ::1/128 fc00::/7 fe80::/10
http_access deny !ports
http_access allow literal
http_access deny !good
http_access deny inside
http_access allow all
dns_nameservers 127.0.0.1
hosts_file /etc/hosts
positive_dns_ttl 1 second
negative_dns_ttl 1 second
request_timeout 1 second
request_start_timeout 1 second
connect_timeout 2 seconds
forward_timeout 3 seconds
client_persistent_connections on
server_persistent_connections off
request_header_max_size 4 KB
cache deny all
cache_mem 8 MB
max_filedescriptors 1024
access_log none
cache_log /dev/null
cache_store_log none
pid_filename none
pinger_enable off
netdb_filename none
coredump_dir ` + dir + `
visible_hostname lab
shutdown_lifetime 0 seconds
`
	return startProgram("squid", dir, config, "-N", "-f")
}
