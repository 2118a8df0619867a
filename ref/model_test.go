package ref

import (
	"net/http"
	"reflect"
	"testing"
)

// TestAuthorize: PTH-003.
func TestAuthorize(t *testing.T) {
	for name, row := range map[string]struct {
		sent, want http.Header
		credential string
	}{
		"nothing sent":  {http.Header{}, http.Header{"Authorization": {"Bearer k"}}, "k"},
		"Anthropic":     {http.Header{"X-Api-Key": {"a", "b"}}, http.Header{"X-Api-Key": {"k"}}, "k"},
		"OpenAI":        {http.Header{"Authorization": {"Bearer a"}}, http.Header{"Authorization": {"Bearer k"}}, "k"},
		"Gemini":        {http.Header{"X-Goog-Api-Key": {""}}, http.Header{"X-Goog-Api-Key": {"k"}}, "k"},
		"two places":    {http.Header{"X-Api-Key": {"a"}, "Authorization": {"b"}}, http.Header{"X-Api-Key": {"k"}, "Authorization": {"Bearer k"}}, "k"},
		"no credential": {http.Header{"X-Api-Key": {"a"}}, http.Header{"X-Api-Key": {"a"}}, ""},
	} {
		if authorize(row.sent, row.credential); !reflect.DeepEqual(row.sent, row.want) {
			t.Errorf("%s: %v, want %v", name, row.sent, row.want)
		}
	}
}
