# The gateway as an image: docker build -t turnpike . in the folder of a release, or in a checkout.
# The same steps build for amd64 and arm64. Nothing runs on the target's processor, so that a build for
# another processor needs no emulation.

# Its Node has the version that package.json pins and that the tests ran on.
ARG NODE_IMAGE=docker.io/library/node:26.10.0-trixie-slim

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
ARG TARGETARCH
# A registry of your own, if you have one.
ARG NPM_CONFIG_REGISTRY=https://registry.npmjs.org/
WORKDIR /opt/turnpike
# A release has its packages, and asks no registry.
COPY package.json *.json .npmr[c] ./
RUN [ -f npm-shrinkwrap.json ] || \
    npm ci --omit=dev --ignore-scripts --os=linux --cpu="$(echo "$TARGETARCH" | sed s/amd64/x64/)"
COPY . .
# The image has this version of Node already; the package keeps its manifest and its licence.
RUN for runtime in node_modules/node-linux-*; do \
      find "$runtime" -mindepth 1 ! -name package.json ! -name LICENSE -delete \
      && mkdir "$runtime/bin" \
      && ln -s /usr/local/bin/node "$runtime/bin/node"; \
    done \
    && mkdir /data
# turnpike --version shows them.
ARG COMMIT
ARG COMMIT_DATE
RUN if [ -n "$COMMIT" ]; then \
      printf '{"commit":"%s","date":"%s"}\n' "$COMMIT" "$COMMIT_DATE" > build.json; \
    fi

FROM ${NODE_IMAGE}
ARG VERSION
ARG COMMIT
LABEL org.opencontainers.image.title="Turnpike" \
      org.opencontainers.image.description="A metered gateway in front of model vendors" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
# The program belongs to root and the gateway cannot change it; only the volume is its own.
COPY --from=build /opt/turnpike /opt/turnpike
COPY --from=build --chown=10001:10001 /data /var/lib/turnpike
ENV PATH=/opt/turnpike/bin:$PATH \
    NODE_DISABLE_COMPILE_CACHE=1 \
    TURNPIKE_LISTEN=0.0.0.0:8080 \
    TURNPIKE_ADMIN_LISTEN=0.0.0.0:8081
USER 10001:10001
# turnpike.yaml is read from here, and the store is in data/.
WORKDIR /var/lib/turnpike
VOLUME /var/lib/turnpike
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.TURNPIKE_ADMIN_LISTEN.split(':').pop()}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/opt/turnpike/bin/turnpike"]
CMD ["serve"]
