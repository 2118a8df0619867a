package ci_test

import (
	"testing"

	"bridgecheck/ref"
	"bridgecheck/suites/subject"
)

func TestDescribeShape(t *testing.T) {
	compareShapes(t, shapeOf[subject.Description](), shapeOf[ref.Description]())
}
