#!/bin/bash
# Stands for yt-dlp and ffmpeg in tests: the URL, its last argument, decides what it does.
case "$1" in
--version) echo 2026.01.01; exit 0 ;;
-version) echo "ffmpeg version 5.1 Copyright (c) the developers"; exit 0 ;;
esac
url="${!#}"

# The reply of the SOCKS proxy to a connection to an address of four bytes and a port.
reply() {
    exec 4<>"/dev/tcp/127.0.0.1/1080" || { echo none; return; }
    printf '\x05\x01\x00' >&4
    head -c 2 <&4 >/dev/null
    printf "\x05\x01\x00$1" >&4
    head -c 10 <&4 | od -An -tu1 | awk '{print $2}'
    exec 4<&-
}

case "$url" in
*hang*) (setsid sleep 86420.5 &); sleep 86420.5 ;;
*private*) echo "ERROR: [stub] 1: Private video. $(printf 'Sign in. %.0s' {1..100})" >&2; exit 1 ;;
*unsupported*) echo "ERROR: Unsupported URL: $url" >&2; exit 1 ;;
*broken*) echo "ERROR: [stub] 1: the player has changed" >&2; exit 1 ;;
*flood*) for part in {1..100}; do head -c 4000000 /dev/zero >"/output/part$part" || exit 1; done; sleep 60 ;;
*markup*) echo '<script>alert(1)</script>' >/output/media.mp4; exit 0 ;;
*link*) ln -s /etc/passwd /output/media.mp4; exit 0 ;;
*inspect*)
    {
        printf 'ID3'
        cat /tmp/cookies.txt
        echo "arguments: $*"
        echo "environment: $(env | sort | tr '\n' ' ')"
        echo "passwd: $(cat /etc/passwd 2>&1)"
        echo "interfaces: $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | tr '\n' ' ')"
        port="${url##*port=}"
        ports="$(printf '\\x%02x\\x%02x' $((port / 256)) $((port % 256)))"
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && echo "direct: connected" || echo "direct: refused"
        echo "loopback by proxy: $(reply "\x01\x7f\x00\x00\x01$ports")"
        echo "metadata service by proxy: $(reply '\x01\xa9\xfe\xa9\xfe\x00\x50')"
        echo "mail by proxy: $(reply '\x03\x0amedia.test\x00\x19')"
        echo "allowed by proxy: $(reply '\x03\x0amedia.test\x00\x50')"
    } >/output/media.mp3 2>&1
    exit 0
    ;;
esac
case "$*" in
*--extract-audio*) printf 'ID3 sound' >/output/media.mp3 ;;
*) printf '\0\0\0\x18ftypisom video' >/output/media.mp4 ;;
esac
