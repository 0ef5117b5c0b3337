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
    case $1 in https:*) by_steps "$1" "$2" ;; *) wget --quiet --output-document "$2" "$1" ;; esac
  else
    fail "needs curl or wget"
  fi || fail "could not download $1"
}

# wget follows a redirect away from TLS, also with --https-only. So each step is a call of its own, to an address with https.
by_steps() {
  address=$1 steps=0
  while [ $steps -lt 10 ]; do
    case $address in
      https:*) ;;
      *)
        printf 'install: a redirect leads to %s\n' "$address" >&2
        return 1
        ;;
    esac
    code=0
    wget --no-verbose --server-response --max-redirect=0 --output-document "$2" "$address" >"$work/answer" 2>&1 || code=$?
    address=$(sed -n 's/^ *[Ll]ocation: *\([^[:space:]]*\).*/\1/p' "$work/answer" | tail -n 1)
    if [ -z "$address" ]; then
      [ $code -eq 0 ] || cat "$work/answer" >&2
      return $code
    fi
    steps=$((steps + 1))
  done
  return 1
}

main() {
  # What is installed is for all users, whoever installs it.
  umask 022
  version='' prefix=/usr/local from=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --prefix | --from)
        [ -n "${2-}" ] || fail "$1 needs a value"
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

  # The new program would go into it, and nothing into its place.
  [ ! -d "$prefix/bin/tideline" ] || fail "$prefix/bin/tideline is a directory"

  work=$(mktemp -d) new=''
  trap 'rm -rf "$work" "$new"' EXIT
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
  code=0
  "$work/$name/tideline" --version >/dev/null || code=$?
  case $code in
    0) ;;
    # A file that the shell may not run.
    126) fail "no program may run below ${TMPDIR:-/tmp}; name another directory in TMPDIR; nothing was installed" ;;
    *) fail "the program does not run on this system; nothing was installed" ;;
  esac

  # In place of the old program at once, because a running one cannot be written to.
  {
    mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
      "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d" &&
      new=$(mktemp "$prefix/bin/.tideline.XXXXXX") &&
      cp "$work/$name/tideline" "$new" &&
      chmod 755 "$new" &&
      mv -f "$new" "$prefix/bin/tideline" &&
      cp "$work/$name"/man/*.1 "$prefix/share/man/man1/" &&
      cp "$work/$name/completions/tideline.bash" "$prefix/share/bash-completion/completions/tideline" &&
      cp "$work/$name/completions/_tideline" "$prefix/share/zsh/site-functions/_tideline" &&
      cp "$work/$name/completions/tideline.fish" "$prefix/share/fish/vendor_completions.d/tideline.fish"
  } || fail "could not write to $prefix; as root, or with another --prefix"
  printf 'installed %s in %s\n' "$("$prefix/bin/tideline" --version)" "$prefix/bin"
}

main "$@"
