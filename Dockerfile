FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=development
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/riftchime ./cmd/riftchime \
    && mkdir -p /out/data

FROM gcr.io/distroless/static-debian12:nonroot
# The image brings CA certificates and the user "nonroot"; zones are linked in.
COPY --from=build /out/riftchime /riftchime
COPY --from=build --chown=nonroot:nonroot /out/data /data
ENV DATABASE_URL=sqlite:/data/riftchime.db \
    LISTEN_ADDR=:8080
VOLUME /data
EXPOSE 8080
USER nonroot
ENTRYPOINT ["/riftchime"]
CMD ["run"]
