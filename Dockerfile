# The image is made of the Debian package:
#
#     npm run build:deb && docker build -t signalpost .
FROM debian:bookworm-slim
ARG TARGETARCH=amd64
COPY var/release/signalpost_*_${TARGETARCH}.deb /tmp/signalpost.deb
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates /tmp/signalpost.deb \
  && rm -rf /tmp/signalpost.deb /var/lib/apt/lists/*
USER signalpost
VOLUME /var/lib/signalpost
ENV DATA_DIR=/var/lib/signalpost HTTP_HOST=0.0.0.0 RECEIVE_HOST=0.0.0.0
EXPOSE 8080 2525
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD \
  /usr/lib/signalpost/node_modules/node-linux-*/bin/node -e \
  "fetch('http://127.0.0.1:' + (process.env.HTTP_PORT ?? 8080) + '/readyz').then((a) => process.exit(a.ok ? 0 : 1))"
ENTRYPOINT ["signalpost"]
CMD ["start"]
