#!/bin/sh
# Makes the certificates for localhost that the tests use: `first` and `second` are self-signed, `authority` too but as
# an authority, `leaf` is signed by it, and `expired` is as `authority` but not valid any more.
set -eu
cd "$(dirname "$0")"
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
cat >"$new/ca.cnf" <<CNF
[ca]
default_ca = own
[own]
database = $new/index
new_certs_dir = $new
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
[server]
basicConstraints = critical,CA:FALSE
subjectAltName = DNS:localhost,IP:127.0.0.1
[authority]
basicConstraints = critical,CA:TRUE
subjectAltName = DNS:localhost
CNF
# make NAME EXTENSIONS END SIGNER...
make() {
  name=$1 extensions=$2 end=$3
  shift 3
  : >"$new/index"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj "/CN=$name" \
    -keyout "$name.key" -out "$new/request"
  openssl ca -batch -notext -config "$new/ca.cnf" -extensions "$extensions" "$@" -in "$new/request" \
    -startdate 20200101000000Z -enddate "$end" -out "$name.pem"
}
make first server 21000101000000Z -selfsign -keyfile first.key
make second server 21000101000000Z -selfsign -keyfile second.key
make authority authority 21000101000000Z -selfsign -keyfile authority.key
make leaf server 21000101000000Z -cert authority.pem -keyfile authority.key
make expired authority 20210101000000Z -selfsign -keyfile expired.key
