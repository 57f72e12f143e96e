# A server that takes profiles as Pyroscope does: receiver.py FOLDER [CERTIFICATE KEY]. Writes its port
# to FOLDER/port, and of the first request what it says into FOLDER/request, its fields into files of
# their names, and the command lines of all processes at that time into FOLDER/commands. Ends after one
# request, or a minute. The status it answers with is in $STATUS.
import email.parser
import email.policy
import http.server
import json
import os
import ssl
import sys
import urllib.parse

folder = sys.argv[1]


def commands():
    """The command lines of all processes: the sender's, too, which waits for the answer."""
    lines = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % process, "rb") as file:
                lines.append(file.read().replace(b"\0", b" "))
        except OSError:
            pass  # it has ended
    return b"\n".join(lines)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        address = urllib.parse.urlsplit(self.path)
        head = "Content-Type: %s\r\n\r\n" % self.headers["Content-Type"]
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head.encode() + body)
        files = {}
        for part in form.iter_parts():
            name = part.get_param("name", header="content-disposition")
            files[name] = part.get_filename()
            with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
                file.write(part.get_payload(decode=True))
        with open(os.path.join(folder, "request"), "w") as file:
            json.dump({"path": address.path, "query": urllib.parse.parse_qs(address.query),
                       "headers": dict(self.headers), "files": files}, file)
        with open(os.path.join(folder, "commands"), "wb") as file:
            file.write(commands())
        self.send_response(int(os.environ.get("STATUS", "200")))
        self.end_headers()

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
server.timeout = 60
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(folder, "port.new"), "w") as file:
    file.write(str(server.server_address[1]))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.handle_request()
