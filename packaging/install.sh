#!/bin/sh
# Installs the program tideline of a release: downloads the archive for this processor and SHA256SUMS, compares, and
# installs the program, its manual pages and its completions. A wrong checksum changes nothing.
# A function, so that a part of this file does nothing.
set -eu

# The release puts the address of the project here.
releases="@REPOSITORY@/releases"

usage() {
  cat <<'END'
usage: install.sh [--version VERSION] [--prefix DIRECTORY] [--from URL]
  --version  the release, such as 0.1.0; without it, the newest
  --prefix   where to install; without it, /usr/local
  --from     the address of a folder with the files of a release, for a mirror
END
}

fail() {
  printf 'install: %s\n' "$*" >&2
  exit 1
}

fetch() {
  if command -v curl >/dev/null; then
    # No redirect leads away from TLS.
    case $1 in https:*) protocols='=https' ;; *) protocols='=http,https' ;; esac
    curl --fail --silent --show-error --location --proto "$protocols" --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --output-document "$2" "$1"
  else
    fail "needs curl or wget"
  fi || fail "could not download $1"
}

main() {
  version='' prefix=/usr/local from=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --prefix | --from)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
          --version) version=${2#v} ;;
          --prefix) prefix=$2 ;;
          --from) from=${2%/} ;;
        esac
        shift 2
        ;;
      --help)
        usage
        exit 0
        ;;
      *)
        usage >&2
        exit 2
        ;;
    esac
  done
  if [ -z "$from" ]; then
    case $releases in
      @*) fail "this copy is not of a release; name the address with --from" ;;
    esac
    if [ -n "$version" ]; then from="$releases/download/v$version"; else from="$releases/latest/download"; fi
  fi

  [ "$(uname -s)" = Linux ] || fail "the program runs on Linux only"
  arch=$(uname -m)
  case $arch in
    x86_64)
      grep -w sse4_2 /proc/cpuinfo | grep -qw pclmulqdq || fail "the processor lacks SSE4.2 or PCLMUL"
      ;;
    aarch64) ;;
    *) fail "there is no release for $arch" ;;
  esac
  command -v sha256sum >/dev/null || fail "needs sha256sum"

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM

  fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
  # The name in the list also tells the version.
  pattern="^[0-9a-f]\{64\}  tideline-[0-9][0-9A-Za-z.+-]*-$arch-linux\.tar\.gz\$"
  line=$(grep -- "$pattern" "$work/SHA256SUMS") || fail "SHA256SUMS of $from has no archive for $arch"
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "SHA256SUMS of $from has several archives for $arch"
  archive=${line#*  }
  name=${archive%.tar.gz}
  if [ -n "$version" ] && [ "$name" != "tideline-$version-$arch-linux" ]; then
    fail "$from has $name, not version $version"
  fi

  fetch "$from/$archive" "$work/$archive"
  printf '%s\n' "$line" >"$work/expected"
  (cd "$work" && sha256sum -c expected >/dev/null 2>&1) ||
    fail "$archive does not have the checksum of SHA256SUMS; nothing was installed"
  tar -xzf "$work/$archive" -C "$work"
  "$work/$name/tideline" --version >/dev/null || fail "the program does not run on this system; nothing was installed"

  # In place of the old program at once, because a running one cannot be written to.
  {
    mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
      "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d" &&
      cp "$work/$name/tideline" "$prefix/bin/.tideline.new" &&
      chmod 755 "$prefix/bin/.tideline.new" &&
      mv -f "$prefix/bin/.tideline.new" "$prefix/bin/tideline" &&
      cp "$work/$name"/man/*.1 "$prefix/share/man/man1/" &&
      cp "$work/$name/completions/tideline.bash" "$prefix/share/bash-completion/completions/tideline" &&
      cp "$work/$name/completions/_tideline" "$prefix/share/zsh/site-functions/_tideline" &&
      cp "$work/$name/completions/tideline.fish" "$prefix/share/fish/vendor_completions.d/tideline.fish"
  } || fail "could not write to $prefix; as root, or with another --prefix"
  printf 'installed %s in %s\n' "$("$prefix/bin/tideline" --version)" "$prefix/bin"
}

main "$@"
