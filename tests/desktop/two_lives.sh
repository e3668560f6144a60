#!/bin/sh
# two_lives.sh PROGRAM SHOTS: both lives of the window on one fresh home, under Xvfb.
. "$(dirname "$0")/fresh_home.sh"
xvfb-run -a -s "-screen 0 1400x900x24" "$program" first "$shots" --home "$home" -m "$model"
xvfb-run -a -s "-screen 0 1400x900x24" "$program" second "$shots" --home "$home"
