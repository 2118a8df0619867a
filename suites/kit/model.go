package kit

import (
	"github.com/onsi/ginkgo/v2"

	"bridgecheck/fakes/llm"
)

// Model is a scripted model API of the lab.
type Model struct{ *llm.Server }

// Model starts one on a public address of the lab.
func (t *T) Model(script llm.Script) *Model {
	ginkgo.GinkgoHelper()
	server, err := llm.Start(publicAddress+":0", script)
	if err != nil {
		t.Fatal("start model API: %v", err)
	}
	ginkgo.DeferCleanup(server.Close)
	return &Model{server}
}

// URL is the API's root, by address.
func (m *Model) URL() string { return "http://" + m.Addr().String() }
