#!/bin/sh
# Makes the two self-signed certificates for localhost that the tests use, valid from 2020 to 2100.
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
x509_extensions = server
[any]
commonName = supplied
[server]
basicConstraints = critical,CA:FALSE
subjectAltName = DNS:localhost,IP:127.0.0.1
CNF
for name in first second; do
  : >"$new/index"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj "/CN=$name" \
    -keyout "$name.key" -out "$new/request"
  openssl ca -batch -notext -config "$new/ca.cnf" -selfsign -keyfile "$name.key" -in "$new/request" \
    -startdate 20200101000000Z -enddate 21000101000000Z -out "$name.pem"
done
