package adapter

import (
	"errors"
	"testing"
)

// TestTakenOver: from the moment another response reads the stream, the former
// one takes nothing any more, and hands on a wake-up that it has swallowed.
func TestTakenOver(t *testing.T) {
	s := newStream("1")
	former := s.attach(-1)
	if _, _, _, err := s.take(former); err != nil {
		t.Fatalf("the one that reads: %v", err)
	}
	reader := s.attach(-1)
	s.push(event{raw: []byte("{}")})
	<-s.wake // the former one, which waited for it too
	if queued, _, _, err := s.take(former); !errors.Is(err, errTakenOver) || len(queued) > 0 {
		t.Errorf("the former one takes %d events, %v", len(queued), err)
	}
	select {
	case <-s.wake:
	default:
		t.Error("the one that reads is not woken")
	}
	if queued, number, _, err := s.take(reader); err != nil || len(queued) != 1 || number != 1 {
		t.Errorf("the one that reads takes %d events from %d on, %v", len(queued), number, err)
	}
}
