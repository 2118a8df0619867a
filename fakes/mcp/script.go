package mcp

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ScriptMethod is a method of our own: its params are a [Script], which the
// server follows, and its result says what came meanwhile. What a script says
// is written as it stands, whatever it is; the library sees nothing of it.
const ScriptMethod = "fake/script"

// Script is what the server does before it answers.
type Script struct {
	Steps []Step `json:"steps,omitempty"`
	// Bytes is how long the line of the answer is at least, without its end.
	Bytes int `json:"bytes,omitempty"`
	// Text comes back in the result.
	Text string `json:"text,omitempty"`
}

// Step is one of its fields.
type Step struct {
	// Say writes a line. $ID and $TOKEN are the id and the progress token of the
	// script's request, as they came.
	Say string `json:"say,omitempty"`
	// Times repeats Say.
	Times int `json:"times,omitempty"`
	// Hear waits for a line with this in it: a request, an answer or a
	// notification that arrives after the script, other scripts left out.
	Hear string `json:"hear,omitempty"`
	// Gather puts a file into a folder and waits until it holds Times of them:
	// several scripts, in several processes too, meet there.
	Gather string `json:"gather,omitempty"`
	// Stderr writes a line there, Flood as many bytes.
	Stderr string `json:"stderr,omitempty"`
	Flood  int64  `json:"flood,omitempty"`
	// Exit ends the process with this code.
	Exit int `json:"exit,omitempty"`
}

// ScriptResult is the result of the request.
type ScriptResult struct {
	// Length and SHA256 are of the line that the request came in.
	Length int    `json:"length"`
	SHA256 string `json:"sha256"`
	// Heard are the lines that the steps waited for.
	Heard []string `json:"heard"`
	Text  string   `json:"text"`
	Pad   string   `json:"pad,omitempty"`
}

// gatherEvery is how often a folder is looked at.
const gatherEvery = 2 * time.Millisecond

// scripts are those that run. They hear every line that comes.
type scripts struct {
	mu      sync.Mutex
	changed *sync.Cond
	lines   [][]byte
	running int
}

func newScripts() *scripts {
	s := &scripts{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// note files a line while a script runs, and tells whether one does.
func (s *scripts) note(line []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == 0 {
		return false
	}
	s.lines = append(s.lines, bytes.TrimRight(line, "\r\n"))
	s.changed.Broadcast()
	return true
}

// begin returns where a new script starts to hear.
func (s *scripts) begin() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
	return len(s.lines)
}

func (s *scripts) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running--; s.running == 0 {
		s.lines = nil
	}
}

// hear waits for a line with part in it, and returns where to go on after it.
func (s *scripts) hear(from int, part string) (line string, next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; ; from++ {
		for from >= len(s.lines) {
			s.changed.Wait()
		}
		if bytes.Contains(s.lines[from], []byte(part)) {
			return string(s.lines[from]), from + 1
		}
	}
}

// script runs one that hears what comes from at on.
func (f *filter) script(m message, line []byte, at int) {
	var request struct {
		Params struct {
			Script
			Meta struct {
				ProgressToken json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if err := json.Unmarshal(line, &request); err != nil {
		f.scripts.end()
		f.unknown(m)
		return
	}
	line = bytes.TrimRight(line, "\r\n")
	sum := sha256.Sum256(line)
	result := ScriptResult{Length: len(line), SHA256: hex.EncodeToString(sum[:]), Heard: []string{}, Text: request.Params.Text}
	names := strings.NewReplacer("$ID", string(m.ID), "$TOKEN", string(request.Params.Meta.ProgressToken))
	for _, s := range request.Params.Steps {
		if s.Hear != "" {
			var heard string
			heard, at = f.scripts.hear(at, s.Hear)
			result.Heard = append(result.Heard, heard)
			continue
		}
		if err := f.step(s, names); err != nil {
			fmt.Fprintln(os.Stderr, "script:", err)
			os.Exit(2)
		}
	}
	f.scripts.end()
	f.finish(m, result, request.Params.Bytes)
}

// step does what needs no memory.
func (f *filter) step(s Step, names *strings.Replacer) error {
	switch {
	case s.Say != "":
		for range max(1, s.Times) {
			if _, err := fmt.Fprintln(f.answer, names.Replace(s.Say)); err != nil {
				return err
			}
		}
	case s.Gather != "":
		return gather(s.Gather, s.Times)
	case s.Stderr != "":
		fmt.Fprintln(os.Stderr, s.Stderr)
	case s.Flood > 0:
		flood(os.Stderr, s.Flood)
	case s.Exit > 0:
		os.Exit(s.Exit)
	}
	return nil
}

// finish writes the result, padded to the length that was asked for.
func (f *filter) finish(m message, result ScriptResult, length int) {
	encode := func() []byte {
		text, _ := json.Marshal(result) // strings and numbers encode always
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, text)
	}
	raw := encode()
	if member := len(`,"pad":""`); len(raw)+member < length {
		result.Pad = strings.Repeat("p", length-len(raw)-member)
		raw = encode()
	}
	_, _ = f.answer.Write(append(raw, '\n'))
}

// gather meets others in a folder.
func gather(folder string, times int) error {
	if err := os.WriteFile(filepath.Join(folder, rand.Text()), nil, 0o600); err != nil {
		return err
	}
	for {
		files, err := os.ReadDir(folder)
		if err != nil || len(files) >= times {
			return err
		}
		time.Sleep(gatherEvery)
	}
}
