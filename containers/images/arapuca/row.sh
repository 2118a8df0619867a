#!/bin/sh
# Judges the subjects named as arguments and leaves everything in /results. That a
# subject is red is a verdict, not a failure of this script.
set -eu

here=${0%/*} results=${RESULTS:-/results}

cp "$here/link.yaml" "$results/"
for subject; do
  # Where the parts do not fit nothing was built: link.yaml is the verdict.
  [ -x "$here/$subject" ] || continue
  code=0
  "$here/bridgecheck" verify --engine none --strict --patience 310s --subject "$here/$subject" --results "$results" || code=$?
  [ -f "$results/$subject/verdict.yaml" ] || { echo "row: $subject left no verdict (exit $code)" >&2; exit 4; }
done
