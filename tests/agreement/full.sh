#!/usr/bin/env bash
# The whole gate on both reference models: takes hours, and goes on where it was stopped.
#   tests/agreement/full.sh TANDEM-CLI FOLDER [DRAFTERS]
# FOLDER gets the results so far (*.jsonl) and the tables (*.txt, *.json). TANDEM_MODELS names the models' folder.
# Results belong to the very program that made them: keep a copy of it.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
cli=$1 folder=$2 drafters=${3:-own-text,store,half-right,wrong,oracle,random}
mkdir -p "$folder"
awk 'NR % 5 == 1' "$here/prompts.txt" > "$folder/prompts6.txt"

status=0
# gate NAME MODEL PROMPTS TOKENS SHAPES
gate() {
  local results=$folder/$1 run=("$cli" agreement -m "$TANDEM_MODELS/$2" --prompts "$3" -n "$4" --no-end
    --drafters "$drafters" --shapes "$5" --home "$folder/home" --out "$folder/$1.jsonl")
  "${run[@]}" > "$results.txt" || status=1
  cat "$results.txt"
  "${run[@]}" --json > "$results.json" || status=1 # all of it is in the results file by now
}
for model in SmolLM2-135M-Instruct.Q4_1.gguf gemma-3-270m-Q4_K_M.gguf; do
  gate "${model%%-*}-64" "$model" "$here/prompts.txt" 64 chain7,chain15,tree15,tree31
done
for model in SmolLM2-135M-Instruct.Q4_1.gguf gemma-3-270m-Q4_K_M.gguf; do
  gate "${model%%-*}-256" "$model" "$folder/prompts6.txt" 256 chain15,tree31
done
# Request options and company: 4 prompts, every two values of two dimensions once.
awk 'NR == 3 || NR == 13 || NR == 23 || NR == 24' "$here/prompts.txt" > "$folder/prompts4.txt"
for model in SmolLM2-135M-Instruct.Q4_1.gguf gemma-3-270m-Q4_K_M.gguf; do
  "$cli" agreement -m "$TANDEM_MODELS/$model" --prompts "$folder/prompts4.txt" -n 48 --drafters "$drafters,auto" \
    --shapes chain7,chain15,tree15,tree31 --options all --parallel 1,2,4 --pairwise --home "$folder/home" \
    --out "$folder/${model%%-*}-options.jsonl" | tee "$folder/${model%%-*}-options.txt" || status=1
done
exit $status
