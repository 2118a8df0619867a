package behaviour

import (
	"testing"
	"time"
)

func TestChoice(t *testing.T) {
	t.Setenv(Variable, "silent-close,idle-one-way=2s")
	if !Has(SilentClose) || Has(Skew) || Duration(OneWayIdle) != 2*time.Second || Check() != nil {
		t.Errorf("%q was read wrongly: %v", Chosen(), Check())
	}
	for _, bad := range []string{"silent", "idle-one-way", "idle-one-way=2", "skew=1"} {
		t.Setenv(Variable, bad)
		if Check() == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	t.Setenv(Variable, "")
	if Check() != nil || Has(Skew) {
		t.Errorf("nothing chosen: %v", Check())
	}
}
