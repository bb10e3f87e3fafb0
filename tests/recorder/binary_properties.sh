#!/bin/sh
# usage: binary_properties.sh RECORDER VERSION_SCRIPT
# The recorder goes into other people's programs: it may need libc alone, in a version that every
# system has, may export what the version script lists and nothing else, and must stay small.
set -u
recorder=$1
version_script=$2
newest_glibc=2.17
largest_text=122880
failures=0

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

needed=$(readelf -dW "$recorder" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ "$needed" = libc.so.6 ] || fail "it needs: $needed"

exported=$(readelf -W --dyn-syms "$recorder" |
  awk '$5 == "GLOBAL" && $7 != "UND" && $7 ~ /^[0-9]+$/ { print $8 }' | sort)
wanted=$(sed -n '/global:/,/local:/s/^ *\([A-Za-z_0-9]*\);$/\1/p' "$version_script" | sort)
[ -n "$wanted" ] || fail "the version script lists nothing"
[ "$exported" = "$wanted" ] || fail "it exports: $exported
but should: $wanted"

# What it does for itself would be recorded as the program's. The hook of syscall() hands on all that the recorder asks
# of it; the others are called to measure what they cost.
own=$(readelf -rW "$recorder" | awk '{ sub(/@.*/, "", $5); print $5 }' | sort -u)
hooks_called=$(echo "$wanted" | grep -Fx "$own" | tr '\n' ' ')
[ "$hooks_called" = "__cyg_profile_func_enter __cyg_profile_func_exit syscall " ] ||
  fail "it calls hooks of its own: $hooks_called"

versions=$(readelf -W --dyn-syms "$recorder" | sed -n 's/.*@GLIBC_\([0-9.]*\).*/\1/p' | sort -Vu)
newest=$(echo "$versions" | tail -n 1)
[ -n "$newest" ] || fail "no version of glibc is to be seen"
[ "$(printf '%s\n%s\n' "$newest" "$newest_glibc" | sort -V | tail -n 1)" = "$newest_glibc" ] ||
  fail "it needs GLIBC_$newest, allowed is $newest_glibc"

text=$(size "$recorder" | awk 'NR == 2 { print $1 }')
[ "$text" -le "$largest_text" ] || fail "its text has $text bytes, allowed are $largest_text"

echo "needs $needed, GLIBC_$newest; $(echo "$exported" | wc -l) exports; text $text bytes"
[ "$failures" -eq 0 ]
