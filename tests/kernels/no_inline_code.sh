#!/bin/sh
# no_inline_code.sh OBJECT... : fails when an object can't be read or defines a weak symbol.
for object in "$@"; do
  symbols=$(nm -C "$object") || exit 1
  weak=$(printf '%s\n' "$symbols" | grep -E ' [WVu] ')
  if [ -n "$weak" ]; then
    printf '%s leaves inline code to the linker:\n%s\n' "$object" "$weak"
    exit 1
  fi
  printf '%s: none\n' "$(basename "$object")"
done
