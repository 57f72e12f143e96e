#!/bin/sh
# What a script says that runs in a page: browser.sh PAGE SCRIPT. Prints the script's last words, which
# it puts into document.body.
set -eu
page=$1
script=$2
{
  cat "$page"
  echo '<script>'
  cat "$script"
  echo '</script>'
} >with-script.html
HOME=$PWD timeout 60 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=5000 \
  --window-size=1300,1000 --dump-dom "file://$PWD/with-script.html" 2>chromium.log |
  sed -n 's/.*<body[^>]*>//p'
