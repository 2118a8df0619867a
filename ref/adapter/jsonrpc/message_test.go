package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"bridgecheck/ref/adapter/jsonrpc"
)

func TestParse(t *testing.T) {
	for _, row := range []struct {
		raw    string
		kind   jsonrpc.Kind
		method string
		id     string
		err    error
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, jsonrpc.Request, "ping", "1", nil},
		{` { "method" : "a\u002fb" , "id" : "x" } `, jsonrpc.Request, "a/b", `"x"`, nil},
		{`{"\u0069d":12345678901234567890,"method":"m"}`, jsonrpc.Request, "m", "12345678901234567890", nil},
		{`{"method":"m","params":{"id":3,"method":"n"}}`, jsonrpc.Notification, "m", "", nil},
		{`{"id":-1.5e3,"result":null}`, jsonrpc.Response, "", "-1.5e3", nil},
		{`{"result":{"a":["}",{"b":"\"]"}]},"id":5}`, jsonrpc.Response, "", "5", nil},
		{`{"id":null,"error":{"code":-32700}}`, jsonrpc.Response, "", "null", nil},
		{`{"id":null,"method":"m"}`, 0, "", "", jsonrpc.ErrInvalid},
		{`{"id":true,"method":"m"}`, 0, "", "", jsonrpc.ErrInvalid},
		{`{"id":{},"result":1}`, 0, "", "", jsonrpc.ErrInvalid},
		{`{"id":1,"id":2,"method":"m"}`, 0, "", "", jsonrpc.ErrInvalid},
		{`{"id":1,"\u0069d":2,"method":"m"}`, 0, "", "", jsonrpc.ErrInvalid},
		{`{"id":1,"method":7}`, 0, "", "", jsonrpc.ErrInvalid},
		{`{"id":1,"result":1,"error":{}}`, 0, "", "", jsonrpc.ErrInvalid},
		{`{"id":1}`, 0, "", "", jsonrpc.ErrInvalid},
		{`{}`, 0, "", "", jsonrpc.ErrInvalid},
		{`[]`, 0, "", "", jsonrpc.ErrInvalid},
		{`7`, 0, "", "", jsonrpc.ErrInvalid},
		{`"id"`, 0, "", "", jsonrpc.ErrInvalid},
		{``, 0, "", "", jsonrpc.ErrNotJSON},
		{`{"id":1,"method":"m"`, 0, "", "", jsonrpc.ErrNotJSON},
		{`{"id":1,"method":"m"} {}`, 0, "", "", jsonrpc.ErrNotJSON},
		{`listening on port 80`, 0, "", "", jsonrpc.ErrNotJSON},
	} {
		m, err := jsonrpc.Parse([]byte(row.raw))
		if !errors.Is(err, row.err) {
			t.Errorf("%s: error is %v, want %v", row.raw, err, row.err)
			continue
		}
		if m.Kind != row.kind || m.Method != row.method || string(m.ID.Of(m.Raw)) != row.id {
			t.Errorf("%s: got kind %d, method %q, id %s", row.raw, m.Kind, m.Method, m.ID.Of(m.Raw))
		}
	}
}

func TestKeyTellsNumbersFromStrings(t *testing.T) {
	same := func(a, b string) bool { return jsonrpc.Key([]byte(a)) == jsonrpc.Key([]byte(b)) }
	if same(`1`, `"1"`) || same(`9007199254740993`, `9007199254740992`) {
		t.Error("two ids are taken for one")
	}
	if !same(`"a"`, `"\u0061"`) {
		t.Error("one id in two spellings is taken for two")
	}
}

func TestSpliceChangesOnlyTheTokens(t *testing.T) {
	raw := []byte(`{"z":1e400,"id":  "old" ,"method":"m","params":{"_meta":{"progressToken":9007199254740993,"x":[1 , 2]}},"a":"<\u00e9>"}`)
	m, err := jsonrpc.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	got := jsonrpc.Splice(raw,
		jsonrpc.Edit{At: m.Lookup("_meta", "progressToken"), By: []byte("7")},
		jsonrpc.Edit{At: m.Lookup("_meta", "absent"), By: []byte("8")},
		jsonrpc.Edit{At: m.ID, By: []byte("7")})
	want := `{"z":1e400,"id":  7 ,"method":"m","params":{"_meta":{"progressToken":7,"x":[1 , 2]}},"a":"<\u00e9>"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOneLineKeepsTokens(t *testing.T) {
	in := "{\r\n \"a\": \"\\n\xff\",\n\t\"b\":1\r}\n"
	want := "{   \"a\": \"\\n\xff\", \t\"b\":1 }"
	if got := jsonrpc.OneLine([]byte(in)); string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNewErrorKeepsTheID(t *testing.T) {
	got := jsonrpc.NewError([]byte(`"<1>"`), jsonrpc.CodeInternal, "gone", nil)
	if want := `{"jsonrpc":"2.0","id":"<1>","error":{"code":-32603,"message":"gone"}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	m, err := jsonrpc.Parse(jsonrpc.NewError(nil, -5, "x", map[string]int{"a": 1}))
	if err != nil || m.ErrorCode() != -5 || string(m.ID.Of(m.Raw)) != "null" {
		t.Errorf("got %s, %v", m.Raw, err)
	}
}

func TestElements(t *testing.T) {
	got := jsonrpc.Elements([]byte(` [ {"a":[1]} ,"x]", 3] `))
	if len(got) != 3 || string(got[0]) != `{"a":[1]}` || string(got[1]) != `"x]"` || string(got[2]) != "3" {
		t.Errorf("got %q", got)
	}
	for _, raw := range []string{`{}`, `[`, `[]`, ``} {
		if got := jsonrpc.Elements([]byte(raw)); got != nil {
			t.Errorf("%s: got %q", raw, got)
		}
	}
}

// FuzzParse compares what Parse sees with encoding/json and demands that an
// edit that changes nothing gives the same bytes.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"m","params":{"_meta":{"progressToken":"t"}}}`))
	f.Add([]byte(`{"id":"\ud800","result":[{"a":"}"}]}`))
	f.Add([]byte(`{"error":{"code":-1},"id":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		jsonrpc.Elements(raw)
		m, err := jsonrpc.Parse(raw)
		if err != nil {
			return
		}
		var plain map[string]json.RawMessage
		if err := json.Unmarshal(raw, &plain); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if m.ID.Present() && !bytes.Equal(plain["id"], m.ID.Of(raw)) {
			t.Errorf("id is %s, encoding/json has %s", m.ID.Of(raw), plain["id"])
		}
		token := m.Lookup("_meta", "progressToken")
		got := jsonrpc.Splice(raw, jsonrpc.Edit{At: token, By: token.Of(raw)}, jsonrpc.Edit{At: m.ID, By: m.ID.Of(raw)})
		if !bytes.Equal(got, raw) {
			t.Errorf("an edit without a change gave %q", got)
		}
	})
}
