package probe

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// The words of Args of the mcp op. The first three declare a capability and
// answer what a server then asks for.
const (
	argSampling    = "sampling"
	argElicitation = "elicitation"
	argRoots       = "roots"
	argProgress    = "progress" // the call has a progress token
	argListen      = "listen"   // opens the GET stream of the legacy era
)

// answered is in every answer that the probe gives to a server.
const answered = "answered by the probe"

// answers is the client's side of what a server sends of its own accord.
type answers struct {
	mu     sync.Mutex
	events []string
	more   chan struct{} // holds a token when something came
}

func newAnswers() *answers { return &answers{more: make(chan struct{}, 1)} }

// options declares the capabilities that the words name.
func (s *answers) options(words []string) ([]client.ClientOption, error) {
	var options []client.ClientOption
	for _, word := range words {
		switch word {
		case argSampling:
			options = append(options, client.WithSamplingHandler(s))
		case argElicitation:
			options = append(options, client.WithElicitationHandler(s))
		case argRoots:
			options = append(options, client.WithRootsHandler(s))
		case argProgress, argListen:
		default:
			return nil, &noAttempt{"unknown word of mcp: " + word}
		}
	}
	return options, nil
}

// came notes one event.
func (s *answers) came(method string) {
	s.mu.Lock()
	s.events = append(s.events, method)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *answers) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.events...)
}

// await waits until count events have come.
func (s *answers) await(ctx context.Context, count int) error {
	for len(s.list()) < count {
		select {
		case <-s.more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// CreateMessage answers sampling/createMessage.
func (s *answers) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	s.came(string(mcp.MethodSamplingCreateMessage))
	result := &mcp.CreateMessageResult{Model: "probe", StopReason: "endTurn"}
	result.Role, result.Content = mcp.RoleAssistant, mcp.NewTextContent(answered)
	return result, nil
}

// Elicit answers elicitation/create.
func (s *answers) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	s.came(string(mcp.MethodElicitationCreate))
	result := &mcp.ElicitationResult{}
	result.Action, result.Content = mcp.ElicitationResponseActionAccept, map[string]any{"name": answered}
	return result, nil
}

// ListRoots answers roots/list.
func (s *answers) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	s.came(string(mcp.MethodListRoots))
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///probe", Name: answered}}}, nil
}

var (
	_ client.SamplingHandler    = (*answers)(nil)
	_ client.ElicitationHandler = (*answers)(nil)
	_ client.RootsHandler       = (*answers)(nil)
)
