# For scripts that are given PROGRAM SHOTS: a fresh home, an empty folder for pictures, the model's path.
set -eu
program=$1
shots=$2
model=${TANDEM_MODELS:-}/SmolLM2-135M-Instruct.Q4_1.gguf
if [ ! -f "$model" ]; then
  echo "TANDEM_MODELS must name the folder that holds SmolLM2-135M-Instruct.Q4_1.gguf; ./test sets it." >&2
  exit 1
fi
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
rm -rf "$shots"
mkdir -p "$shots" "$home/run"
chmod 700 "$home/run"
unset QT_QUICK_BACKEND # the program chooses
export QT_QPA_PLATFORM=xcb XDG_RUNTIME_DIR="$home/run" LC_ALL=C.UTF-8
