#!/bin/sh
# no_inline_code.sh OBJECT... : fails when an object defines a weak symbol.
for object in "$@"; do
  weak=$(nm -C "$object" | grep -E ' [WVu] ')
  if [ -n "$weak" ]; then
    printf '%s leaves inline code to the linker:\n%s\n' "$object" "$weak"
    exit 1
  fi
  printf '%s: none\n' "$(basename "$object")"
done
