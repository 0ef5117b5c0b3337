# The files of the image, with the program built from source. The release workflow puts those with the program of an archive
# in the place of this stage (packaging/image-files, --build-context build=DIR), so that nothing is compiled twice.
# The compiler changes only by a commit: from the oldest that Cargo.toml allows, by those of Dependabot. Releases use the
# same (release.yml).
FROM rust:1.89-bookworm AS build
# For RocksDB (.cargo/config.toml) and the bindings to it, for OpenSSL, for the licences, and for the image.
RUN apt-get update \
    && apt-get install -y --no-install-recommends clang libclang-dev perl python3 ca-certificates \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
# OpenSSL goes into the program, so that the image needs no library of it.
ENV OPENSSL_NO_VENDOR=0
# Takes longer than the first build of CONTRIBUTING.md, because it compiles OpenSSL too. The cache mounts keep the result for
# the next image; each processor has a cache of its own, because a build may be for several at once. On arm64, kernels have
# pages of 4, 16 or 64 KiB: an allocator made for the largest runs on all (.ci/dist).
ARG TARGETARCH
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target,id=tideline-target-${TARGETARCH} \
    if [ "$TARGETARCH" = arm64 ]; then export JEMALLOC_SYS_WITH_LG_PAGE=16; fi \
    && cargo build --release --locked && python3 packaging/notices.py >THIRD-PARTY \
    && packaging/image-files target/release/tideline THIRD-PARTY /image

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Tideline" \
      org.opencontainers.image.description="A self-hosted server for home timelines: one binary, one data directory, an HTTP API" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin tideline \
    && install -d -o tideline -g tideline -m 700 /data /backups
# The authorities for https:// come along, so that this stage needs no network: it is the same wherever it is built.
COPY --from=build /image/ /
# By number, so that Kubernetes can see that it is not root (runAsNonRoot).
USER 10001:10001
# Only /data is written to: the root file system may be read-only (docker run --read-only). /backups is for copies of
# backups, if a volume is mounted there (compose.yaml).
WORKDIR /data
VOLUME /data
EXPOSE 8080
# In the environment, so that `tideline health` and the other commands have the same settings as the server.
ENV TIDELINE__SERVER__LISTEN=0.0.0.0:8080 \
    TIDELINE__STORAGE__DATA_DIR=/data
STOPSIGNAL SIGTERM
# A start after a kill replays the write-ahead log, which may take a while. The OCI format has no place for this: buildah and
# podman drop it without `--format docker`.
HEALTHCHECK --interval=10s --timeout=5s --start-period=2m --retries=3 CMD ["tideline", "health"]
ENTRYPOINT ["tideline"]
# The address is not the loopback, so the server refuses to start open to everybody: docs/operate/install.md#in-a-container.
CMD ["serve"]
