# Files of many hosts from one of ours: hosts.py FILE NAME FOLDER COUNT. Host i has its own name and
# boot id; those whose number is a multiple of 100 allocate tenfold, host 7 has lost events.
import json
import os
import sys

source, name, folder, hosts = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
with open(source) as file:
    lines = [json.loads(line) for line in file]
for host in range(1, hosts + 1):
    with open(os.path.join(folder, "host-%04d-%s.ndjson" % (host, name)), "w") as file:
        for line in lines:
            row = dict(line, host="host-%04d" % host, boot_id="boot-%04d" % host)
            if host % 100 == 0 and "bytes_alloc" in row:
                row["bytes_alloc"] *= 10
            if row["table"] == "totals":
                row["lost"] = 1234 if host == 7 else 0
            file.write(json.dumps(row) + "\n")
