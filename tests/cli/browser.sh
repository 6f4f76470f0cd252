# browser.sh, for other scripts to source: sets `browser` to the installed Chromium, or ends the script with 77.
browser=
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then browser=$name && break; fi
done
[[ $browser ]] || { echo "skipped: Chromium is not installed (apt-get install chromium)"; exit 77; }
