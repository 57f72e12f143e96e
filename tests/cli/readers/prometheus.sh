#!/bin/sh
# What Prometheus answers to a query, after it has scraped a node exporter that reads the files of a
# folder: prometheus.sh FOLDER QUERY. Prints the value, within 20 seconds.
set -eu
folder=$1
query=$2
port=$((20000 + $$ % 20000))

prometheus-node-exporter --collector.disable-defaults --collector.textfile \
  --collector.textfile.directory="$folder" --web.listen-address="127.0.0.1:$port" \
  >exporter.log 2>&1 &
exporter=$!
trap 'kill "$exporter"' EXIT
cat >prometheus.yml <<END
scrape_configs:
  - job_name: node
    scrape_interval: 1s
    static_configs:
      - targets: ["127.0.0.1:$port"]
END
prometheus --config.file=prometheus.yml --storage.tsdb.path=database \
  --web.listen-address="127.0.0.1:$((port + 1))" >prometheus.log 2>&1 &
prometheus=$!
trap 'kill "$exporter" "$prometheus"' EXIT

python3 - "http://127.0.0.1:$((port + 1))/api/v1/query?query=$query" <<'END'
import json, sys, time, urllib.request
for _ in range(100):
    try:
        answer = json.load(urllib.request.urlopen(sys.argv[1]))
        if answer["data"]["result"]:
            print(answer["data"]["result"][0]["value"][1])
            break
    except OSError:
        pass
    time.sleep(0.2)
else:
    sys.exit("no answer")
END
