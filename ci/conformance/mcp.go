package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// client speaks streamable HTTP of 2025-11-25, no more of it than the
// comparison needs: it answers nothing that the server asks.
type client struct {
	url, session string
	http         http.Client
	id           int
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("JSON-RPC error %d: %s", e.Code, e.Message) }

var (
	initializeParams = map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "compare", "version": "1"},
	}
	initialized = map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}
)

func (c *client) initialize(ctx context.Context) error {
	if _, err := c.call(ctx, "initialize", initializeParams); err != nil {
		return err
	}
	response, err := c.post(ctx, initialized)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func (c *client) tool(ctx context.Context, name string, arguments any) (json.RawMessage, error) {
	return c.call(ctx, "tools/call", map[string]any{"name": name, "arguments": arguments})
}

func (c *client) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c.id++
	response, err := c.post(ctx, map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if session := response.Header.Get("Mcp-Session-Id"); session != "" {
		c.session = session
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return c.stream(response.Body)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	result, ours, err := c.answer(body)
	if !ours && err == nil {
		err = fmt.Errorf("HTTP %s without an answer", response.Status)
	}
	return result, err
}

func (c *client) post(ctx context.Context, message any) (*http.Response, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		request.Header.Set("Mcp-Session-Id", c.session)
		request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	return c.http.Do(request)
}

// stream reads events until the answer.
func (c *client) stream(body io.Reader) (json.RawMessage, error) {
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data:"); ok {
			if result, ours, err := c.answer([]byte(data)); ours || err != nil {
				return result, err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the stream ended without an answer")
		}
		if err != nil {
			return nil, err
		}
	}
}

// answer tells whether the message answers the last request.
func (c *client) answer(data []byte) (result json.RawMessage, ours bool, err error) {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	_ = json.Unmarshal(data, &message) // an empty priming event, or a text: nobody's answer
	switch {
	case message.Error != nil && message.Method == "":
		return nil, true, message.Error
	case message.Method == "" && string(message.ID) == fmt.Sprint(c.id):
		return message.Result, true, nil
	}
	return nil, false, nil
}
