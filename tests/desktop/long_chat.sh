#!/bin/sh
# long_chat.sh PROGRAM SHOTS: a chat of TANDEM_SOAK_MINUTES (half a minute) in the window, on a fresh home, under Xvfb.
. "$(dirname "$0")/fresh_home.sh"
xvfb-run -a -s "-screen 0 1400x900x24" "$program" "${TANDEM_SOAK_MINUTES:-0.5}" "$shots" --home "$home" -m "$model"
