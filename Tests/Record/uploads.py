"""A server of one thread that takes uploads in unusual ways, chosen by the path. Usage: uploads.py PORT"""
import socket
import sys


def answer(status, text, fields=""):
    return f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(text)}\r\n\r\n{text}".encode()


def read_head(stream):
    line = stream.readline().decode()
    fields = {}
    while True:
        field = stream.readline().decode().strip()
        if not field:
            return line, fields
        name, _, value = field.partition(":")
        fields[name.lower()] = value.strip()


def serve(connection):
    stream = connection.makefile("rb")
    while True:
        line, fields = read_head(stream)
        if not line:
            return
        length = int(fields.get("content-length", "0"))
        if "/417" in line and "expect" in fields:
            connection.sendall(answer("417 Expectation Failed", "no", "Connection: close\r\n"))
            return
        if "/early" in line:
            connection.sendall(answer("200 OK", "at once"))
            print("early: read", len(stream.read(length)), flush=True)
            continue
        if "/gone" in line:
            stream.read(100_000)
            connection.sendall(answer("400 Bad Request", "no more", "Connection: close\r\n"))
            # Bytes that were not read make this a reset.
            return
        connection.sendall(answer("200 OK", f"took {len(stream.read(length))}"))


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = listener.accept()
    try:
        serve(connection)
    except ConnectionError as error:
        print(error, flush=True)
    connection.close()
