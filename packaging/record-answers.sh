#!/usr/bin/env bash
# Records the answers of docs/release-identity.md anew: packaging/record-answers.sh REASON
# Needs a release build (./test) and the reference models in $TANDEM_MODELS.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
export TANDEM_CLI=$root/build/release/bin/tandem-cli TANDEM_WRITE_TEXT_MODELS=$root/build/release/bin/write_text_models
export TANDEM_TINY_RECIPE=$root/tests/data/tiny-models/llama.json
exec python3 -B "$root/tests/release/identity.py" --record "$@"
