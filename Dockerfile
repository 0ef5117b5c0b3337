# syntax=docker/dockerfile:1

# The program, built from source. The release workflow puts the program of an archive in the place of this stage
# (--build-context build=DIR), so that nothing is compiled twice.
FROM rust:1-bookworm AS build
# For RocksDB (.cargo/config.toml), and for the bindings to it.
RUN apt-get update && apt-get install -y --no-install-recommends clang libclang-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
# RocksDB takes half an hour to compile on 2 cores; the cache mounts keep it for the next image. A cache of its own for
# each processor, because a build for several runs at once.
ARG TARGETARCH
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target,id=tideline-target-${TARGETARCH} \
    cargo build --release --locked && install -s target/release/tideline /usr/local/bin/tideline

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Tideline" \
      org.opencontainers.image.description="A self-hosted server for home timelines: one binary, one data directory, an HTTP API" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin tideline \
    && install -d -o tideline -g tideline -m 700 /data
COPY --from=build /usr/local/bin/tideline /usr/local/bin/tideline
# By number, so that Kubernetes can see that it is not root (runAsNonRoot).
USER 10001:10001
# Only /data is written to: the root file system may be read-only (docker run --read-only).
WORKDIR /data
VOLUME /data
EXPOSE 8080
# In the environment, so that `tideline health` and the other commands have the same settings as the server.
ENV TIDELINE__SERVER__LISTEN=0.0.0.0:8080 \
    TIDELINE__STORAGE__DATA_DIR=/data
STOPSIGNAL SIGTERM
# A start after a kill replays the write-ahead log, which may take a while.
HEALTHCHECK --interval=10s --timeout=5s --start-period=2m --retries=3 CMD ["tideline", "health"]
ENTRYPOINT ["tideline"]
# The address is not the loopback, so the server refuses to start open to everybody: docs/operations.md#in-a-container.
CMD ["serve"]
