package cli

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// FBK-011: stdio of this program is that of the server, once it is known which.
func TestStdio(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: mcp-stdio\r\n\r\n"))
		line, _ := buffered.ReadString('\n')
		_, _ = conn.Write([]byte(r.URL.Path + " " + line))
	})}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	for _, row := range []struct {
		args     []string
		variable string
		code     int
		out, err string
	}{
		{[]string{"stdio", "git-hub"}, path, 0, "/stdio hello\n", ""},
		{[]string{"stdio", "--socket", path, "git-hub"}, "/nowhere", 0, "/stdio hello\n", ""},
		{[]string{"stdio", "git-hub"}, "", 125, "", "BRIDGE_SERVER_GIT_HUB_SOCKET"},
		{[]string{"stdio", "git-hub"}, path + "x", 125, "", `stdio of server "git-hub": connect to the bridge`},
		{[]string{"stdio"}, path, 125, "", "1 arg"},
	} {
		cmd := program(t, row.args...)
		cmd.Env = append(cmd.Env, "BRIDGE_SERVER_GIT_HUB_SOCKET="+row.variable)
		cmd.Stdin = strings.NewReader("hello\n")
		code, out, stderr := run(t, cmd)
		if code != row.code || out != row.out || !strings.Contains(stderr, row.err) {
			t.Errorf("%q with %q: exit %d, stdout %q, stderr %q", row.args, row.variable, code, out, stderr)
		}
	}
}
