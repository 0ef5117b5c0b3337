# syntax=docker/dockerfile:1

FROM rust:1-bookworm AS build
# For the bindings to RocksDB.
RUN apt-get update && apt-get install -y --no-install-recommends libclang-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
# RocksDB takes half an hour to compile on 2 cores; the cache mounts keep it for the next image.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --release --locked && cp target/release/tideline /usr/local/bin/tideline

FROM debian:bookworm-slim
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin tideline \
    && install -d -o tideline -g tideline /data
COPY --from=build /usr/local/bin/tideline /usr/local/bin/tideline
USER tideline
WORKDIR /data
VOLUME /data
EXPOSE 8080
# The image has no curl; bash can open the socket itself.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["bash", "-c", "\
exec 3<>/dev/tcp/127.0.0.1/8080 && \
printf 'GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n' >&3 && \
read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["tideline"]
# Every client that reaches the port may do everything: there are no keys yet. --insecure is needed because
# a container must listen on more than its loopback. Publish the port on the host's loopback only:
#   docker run -p 127.0.0.1:8080:8080 -v tideline:/data tideline
CMD ["serve", "--listen", "0.0.0.0:8080", "--insecure", "--data-dir", "/data"]
