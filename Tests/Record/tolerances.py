#!/usr/bin/env python3
"""tolerances.py --names: the names of the answers below, a line each.
tolerances.py PORT: serves them on a loopback port, each at the path of its name: exact bytes, as servers that get
HTTP a little wrong send them. docs/CONFORMANCE.md says which those are, and what is made of each answer."""
import socket
import sys

OK = b"HTTP/1.1 200 OK\r\n"
FIVE = b"Content-Length: 5\r\n\r\nhello"
CHUNKS = b"\r\n5\r\nhello\r\n0\r\n\r\n"
PICTURE = b"\xff\xd8pic\xff\xd9"


def stream(body, content_type=b"multipart/x-mixed-replace;boundary=B"):
    """A stream of parts that ends with the connection."""
    return b"HTTP/1.0 200 OK\r\nContent-Type: " + content_type + b"\r\n\r\n" + body


def part(data, fields=b""):
    return b"--B\r\n" + fields + b"\r\n" + data


# Each answer; one whose end only the connection's end tells is in CLOSED.
ANSWERS = {
    # Before and in the status line.
    "empty-lines-first": b"\r\n\r\n" + OK + FIVE,
    "status-spaces": b"HTTP/1.1  200   OK\r\n" + FIVE,
    "no-reason": b"HTTP/1.1 200\r\n" + FIVE,
    "icy": b"ICY 200 OK\r\nicy-name: gannet\r\n\r\nhello",
    "minor-version": b"HTTP/1.2 200 OK\r\n" + FIVE,
    # Field lines.
    "bare-line-feed": b"HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5\n\nhello",
    "folded-line": OK + b"X-Folded: one\r\n two\r\n\tthree\r\n" + FIVE,
    "bytes-above-ascii": OK + b"X-Latin-1: caf\xe9\r\nX-UTF-8: caf\xc3\xa9\r\n" + FIVE,
    "nameless-lines": OK + b" X-First: skipped\r\n: no name\r\nno colon\r\n" + FIVE,
    "space-before-colon": OK + b"X-Spaced : skipped\r\nX-Kept: kept\r\n" + FIVE,
    # Framing.
    "length-zeros": OK + b"Content-Length: 0005\r\n\r\nhello",
    "length-repeated": OK + b"Content-Length: 5, 5\r\n" + FIVE,
    "length-and-chunks": OK + b"Transfer-Encoding: chunked\r\nContent-Length: 188\r\n" + CHUNKS,
    "stream-length-zero": b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n"
    b"Content-Length: 0\r\n\r\n" + part(b"one\r\n") + b"--B--\r\n",
    "chunks-in-http-1.0": b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n" + CHUNKS,
    "coding-until-close": OK + b"Transfer-Encoding: identity\r\n\r\nhello",
    "coding-identity-chunked": OK + b"Transfer-Encoding: identity, chunked\r\n" + CHUNKS,
    "no-content-with-length": b"HTTP/1.1 204 No Content\r\n" + FIVE,
    "chunk-padding": OK + b"Transfer-Encoding: chunked\r\n\r\n0005  \r\nhello\r\n0;\r\n\r\n",
    "no-last-line": OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    "proxy-connection": OK + b"Proxy-Connection: close\r\n" + FIVE,
    # Streams of parts.
    "part-fields": stream(
        part(b"one", b"CONTENT-TYPE:text/plain\r\ncontent-length : 3\r\n<html>: skipped\r\n")
        + b"\r\n" + part(b"two\r\n") + b"--B--\r\n"),
    "boundary-dashes": stream(
        part(b"one\r\n") + part(b"two\r\n") + b"--B--\r\n", b"multipart/x-mixed-replace;boundary=--B"),
    "boundary-missing": stream(
        part(b"one\r\n") + part(b"two\r\n") + b"--B--\r\n", b"multipart/x-mixed-replace"),
    "delimiter-missing": stream(
        b"Content-Type: text/plain\r\n\r\none\r\n" + part(b"two\r\n") + b"--B--\r\n"),
    "delimiter-without-dashes": stream(b"B\r\n\r\none\r\n" + part(b"two\r\n") + b"--B--\r\n"),
    "delimiter-twice": stream(b"--B\r\n" + part(b"one\r\n") + b"--B  \r\n" + part(b"two\r\n") + b"--B--\r\n"),
    "delimiter-with-field": stream(
        b"--BContent-Type: text/plain\r\n\r\none\r\n--BContent-Type: text/html\r\n\r\ntwo\r\n--B--\r\n"),
    "delimiter-in-line": stream(
        part(PICTURE) + part(b"two") + b"--B\r\nContent-Type: text/plain\r\n\r\nthree--B--\r\n"),
    "part-length-long": stream(
        part(b"one\r\n", b"Content-Length: 20\r\n") + part(b"two\r\n", b"Content-Length: 3\r\n") + b"--B--\r\n"),
    "part-length-short": stream(
        part(PICTURE + b"\r\n", b"Content-Length: 4\r\n") + part(b"two\r\n") + b"--B--\r\n"),
    "part-length-slack": stream(
        part(b"one\r\n\r\n", b"Content-Length: 3\r\n") + part(b"two\r", b"Content-Length: 3\r\n") + b"--B--\r\n"),
    "picture-broken": stream(part(PICTURE, b"Content-Type: image/jpeg\r\n")),
    "part-length-text": stream(
        part(b"one\r\n", b"Content-Length: 3 bytes\r\n") + part(b"two\r\n", b"Content-Length: 0\r\n")
        + part(b"three\r\n", b"Content-Length: %d\r\n") + b"--B--\r\n"),
    "delimiter-cut": stream(part(b"one\r\n") + b"--B\r\nContent-Ty"),
    # Values.
    "media-type": OK + b"Content-Type: text/plain ; charset = utf-8;; charset=latin-1; x=\"open\r\n" + FIVE,
    "disposition": OK + b"Content-Disposition: filename = \"a;b.txt\"\r\n" + FIVE,
    "date": OK + b"Last-Modified: mon, 30-Nov-2026 9:38:18 +0200\r\n" + FIVE,
}
CLOSED = {"icy", "coding-until-close", "no-last-line"}


def main():
    if sys.argv[1] == "--names":
        print("\n".join(ANSWERS))
        return
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    while True:
        client, _ = listener.accept()
        client.settimeout(10)
        try:
            request = b""
            while b"\r\n\r\n" not in request and (piece := client.recv(65536)):
                request += piece
            name = request.split(b" ")[1].decode()[1:] if b" " in request else ""
            answer = ANSWERS.get(name, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            client.sendall(answer)
            # The others are kept open until the client has had its answer.
            if name not in CLOSED and not answer.startswith(b"HTTP/1.0"):
                client.recv(1)
        except OSError:
            pass  # it went away: so be it
        finally:
            client.close()


main()
