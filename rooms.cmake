# The rooms of the house, from what knows least to what knows most: records, events, views, reports.
# A line is a folder, its purpose, the rooms whose headers it may include (SEES) and the libraries of
# others that it uses (USES). CMakeLists.txt makes a library of each; tests/checks/layering.cmake
# holds the includes to the lines and each folder to 25 files.
memtrace_room(src/base "what the standard library lacks: results, text, bytes, interned ids"
              USES Threads fmt zlib robin_map)
memtrace_room(src/base/thread "threads of our own: without signals, and for steps that take long"
              SEES base)
memtrace_room(src/os "the operating system: descriptors, mappings, foreign files, signals, threads"
              SEES base USES Threads)
memtrace_room(src/os/own "memtrace's own memory: taken beforehand, locked, passed over by the OOM killer"
              SEES base os)

# tracepoints/: what the kernel's events carry.
memtrace_room(tracepoints/format "format files, fields by offset, tracefs, filters"
              SEES base os USES tracefs)
memtrace_room(tracepoints/event "an event and its typed payloads: all that state and views see"
              SEES base tracepoints/format)
memtrace_room(tracepoints/decode "bytes to payload, a file for each group of events"
              SEES base os tracepoints/format tracepoints/event)
memtrace_room(tracepoints/probe "uprobe_events, the uprobe PMU, kprobes, known functions"
              SEES base os tracepoints/format tracepoints/event USES perf_event)

# symbolize/: what files with code say.
memtrace_room(symbolize/elf "open files, build ids, debug files, load layouts"
              SEES base os USES dw)
memtrace_room(symbolize/debug "DWARF of foreign files, within bounds"
              SEES base os symbolize/elf USES dw)
memtrace_room(symbolize/names "an address to functions and lines: symbols, DWARF, kallsyms, JIT maps"
              SEES base os symbolize/elf symbolize/debug USES dw iberty lzma)
memtrace_room(symbolize/cfi "an address to its rule for unwinding"
              SEES base os symbolize/elf symbolize/debug USES dw)
memtrace_room(symbolize/code "functions by name, where a probe may stand, static probes"
              SEES base os symbolize/elf symbolize/names USES dw capstone)

# src/perf/: perf_event_open(2) and perf.data.
memtrace_room(src/perf/record "one record: its layout, parser and builder"
              SEES base USES perf_event)
memtrace_room(src/perf/event "a request to perf_event_attr, descriptors and mapped rings"
              SEES base os perf/record USES perf_event)
memtrace_room(src/perf/target "whom to watch, and what they have mapped already"
              SEES base os perf/record perf/event)
memtrace_room(src/perf/side "what is read beside the recording and is no part of it"
              SEES base os perf/record perf/event)
memtrace_room(src/perf/cost "what a hit, a trap and a switch take, and the CPU time of programs"
              SEES base base/thread os perf/record perf/event USES Threads perf_event)
memtrace_room(src/perf/pace "which share of the events is recorded, so that programs lose little"
              SEES base base/thread os perf/record perf/event perf/cost USES Threads perf_event)
memtrace_room(src/perf/live "rings to records in order, overload, added events"
              SEES base os perf/record perf/event perf/target perf/pace USES Threads perf_event)
memtrace_room(src/perf/ahead "a source's records, read ahead by a thread"
              SEES base base/thread os perf/record USES Threads)
memtrace_room(src/perf/unpack "COMPRESSED records to those that are in them"
              SEES base base/thread os perf/record USES Threads zstd)
memtrace_room(src/perf/file_in "perf.data to records in order"
              SEES base os perf/record perf/ahead perf/unpack USES perf_event)
memtrace_room(src/perf/file_out "records to perf.data, a file or a pipe"
              SEES base base/thread os perf/record USES Threads perf_event zstd)

memtrace_room(src/perf/convert "a recording to one that more programs read"
              SEES base os perf/record perf/unpack perf/file_in perf/file_out)

# src/state/: the world as of this event.
memtrace_room(src/state/process "processes, address spaces, modules, stacks, identities"
              SEES base symbolize/elf)
memtrace_room(src/state/mapping "mappings and the system calls that change them"
              SEES base tracepoints/event)
memtrace_room(src/state/heap "allocator calls to blocks and arenas"
              SEES base state/process state/mapping tracepoints/event)
memtrace_room(src/state/world "owns all state; changed by records and events"
              SEES base state/process state/mapping state/heap tracepoints/event)

# From the record to the event.
memtrace_room(src/unwind "registers and stack bytes to a callchain"
              SEES base os perf/record perf/event perf/live state/process state/world
                   symbolize/elf symbolize/names symbolize/cfi symbolize/code)
memtrace_room(src/observe/files "names and sizes of files, read while events come"
              SEES base os state/world USES Threads)
memtrace_room(src/observe "what /proc says when an event happens, and this machine"
              SEES base os observe/files perf/record state/mapping state/world
                   tracepoints/format tracepoints/event tracepoints/decode tracepoints/probe)
memtrace_room(src/identity "whose a process is: users, cgroups, containers"
              SEES base os perf/record perf/target perf/side state/process state/world
                   tracepoints/format)
memtrace_room(src/programs "which programs a command runs, and which libraries they map"
              SEES base os perf/target perf/live tracepoints/probe symbolize/elf symbolize/code)
memtrace_room(src/report "the Report: tables, notes, order of rows" SEES base USES re2)
memtrace_room(src/sections "memtrace's own sections of a recording; several files as one"
              SEES base perf/record report state/process state/world USES json)
memtrace_room(src/decode "a record to an event, with what only probes know"
              SEES base os perf/record perf/event perf/target sections
                   state/mapping state/world symbolize/names
                   tracepoints/format tracepoints/event tracepoints/decode tracepoints/probe)
memtrace_room(src/pipeline "the one loop: a source's records through all stations to a sink"
              SEES base decode identity observe perf/record perf/event perf/target programs
                   state/world unwind)

# From the event to the reader.
memtrace_room(src/render "a Report to text, and what a renderer is" SEES base report)
memtrace_room(src/render/data "a Report as data: JSON, CSV, OpenMetrics" SEES base report render USES json)
memtrace_room(src/render/profile "a Report as weighted stacks, in the formats of other tools"
              SEES base report render USES json)
memtrace_room(src/render/html "a Report as one page: flame graphs, tables, its own script"
              SEES base report render render/data render/profile USES json)
memtrace_room(src/render/all "the table of all formats" SEES base report render render/data
              render/html render/profile)
memtrace_room(src/views "what a view is" SEES base report state/world tracepoints/event)
memtrace_room(src/views/kit "what views share: keys, rows, figures, lists, histograms"
              SEES base report state/heap state/world tracepoints/event views)
memtrace_room(src/views/truth "what views count beside what the kernel counted"
              SEES base report state/world tracepoints/event views)
memtrace_room(src/views/reason "why memory was refused: facts to sentences"
              SEES base state/mapping state/world tracepoints/event)
memtrace_room(src/views/fault "page faults and swap-ins"
              SEES base report state/process state/world tracepoints/event views views/kit views/truth)
memtrace_room(src/views/rss "pages of processes: anonymous and of files"
              SEES base report state/process state/world tracepoints/event views views/fault views/kit
                   views/truth)
memtrace_room(src/views/resident "resident memory by the code that touched it first"
              SEES base report state/heap state/mapping state/world tracepoints/event views
                   views/fault views/kit)
memtrace_room(src/views/leak "blocks that are not freed, and the verdict on who allocates them"
              SEES base report state/heap state/world tracepoints/event views views/kit)
memtrace_room(src/views/kernel "the kernel's allocators"
              SEES base report state/heap state/world tracepoints/event views views/kit views/leak
                   views/truth)
memtrace_room(src/views/heap "the user heap"
              SEES base report state/heap state/world tracepoints/event views views/kit views/leak)
memtrace_room(src/views/mapping "mappings, brk, shared memory, refused calls"
              SEES base report state/mapping state/world tracepoints/event views views/kit
                   views/reason)
memtrace_room(src/views/reclaim "reclaim, compaction, migration, writeback"
              SEES base report state/world tracepoints/event views views/kit views/mapping views/truth)
memtrace_room(src/views/stalls "who made whom wait for memory"
              SEES base report state/process state/world tracepoints/event views views/fault
                   views/kit views/reclaim views/truth)
memtrace_room(src/views/oom "OOM kills"
              SEES base report state/process state/world tracepoints/event views views/kit)
memtrace_room(src/views/failure "why memory was refused, whoever refused it"
              SEES base report state/mapping state/process state/world tracepoints/event views
                   views/kit views/mapping views/oom views/reason)
memtrace_room(src/views/path "one stack from the program's function down to reclaim"
              SEES base report state/mapping state/process state/world tracepoints/event views
                   views/fault views/kit views/mapping)
memtrace_room(src/views/count "any event, counted" SEES base views views/kit)
memtrace_room(src/timeline "what happened when: costs by stack in slots of time"
              SEES base report state/heap state/process state/world tracepoints/event views views/fault
                   views/kit)
memtrace_room(src/views/all "the table of all views"
              SEES views views/fault views/rss views/resident views/kernel views/heap views/mapping
                   views/reclaim views/stalls views/oom views/failure views/path views/count)

# From the command line to what is recorded.
memtrace_room(src/plan/probes "which probes where"
              SEES base os observe perf/event perf/target programs symbolize/elf symbolize/code
                   tracepoints/format tracepoints/decode tracepoints/probe views/heap)
memtrace_room(src/plan/events "which events, how narrow, which filter"
              SEES base perf/event perf/target perf/live decode plan/probes
                   tracepoints/format tracepoints/decode views views/kit views/all)

# What memtrace does.
memtrace_room(src/session/dispatch "events to views: to those of the whole and to those of each slot"
              SEES base decode perf/record report sections state/world timeline tracepoints/event
                   tracepoints/decode views views/all)
memtrace_room(src/session "records to views to reports: a sink of the pipeline"
              SEES base base/thread os os/own decode identity observe pipeline
                   perf/record perf/event perf/live plan/events report sections session/dispatch
                   state/process state/world symbolize/names timeline tracepoints/event
                   tracepoints/decode tracepoints/probe unwind views views/all)
memtrace_room(src/overview "a recording as a whole: its findings on one screen, or all views"
              SEES base base/thread perf/record report sections session session/dispatch state/world
                   timeline tracepoints/event views views/all)
memtrace_room(src/doctor "what this machine can do, view by view"
              SEES base os os/own observe perf/event report tracepoints/format tracepoints/decode
                   tracepoints/probe views views/all)
memtrace_room(src/recording "records to a file: a sink of the pipeline; the dry run, the perf command"
              SEES base base/thread os decode doctor identity observe pipeline perf/record perf/event
                   perf/target perf/pace perf/live perf/file_out plan/events plan/probes report sections
                   session state/mapping state/process state/world symbolize/elf symbolize/names
                   tracepoints/format unwind views/all)
memtrace_room(src/watch "a ring of records in memory, and files of it when a trigger fires"
              SEES base os os/own decode doctor identity observe pipeline perf/record perf/event perf/target
                   perf/live perf/file_out plan/events recording report sections session
                   state/mapping state/process state/world tracepoints/event unwind)
memtrace_room(src/cli/options "options as tables, and what they set"
              SEES base os os/own perf/event perf/live perf/target plan/events plan/probes render
                   render/all report
                   session USES boost)
memtrace_room(src/cli/output "reports, lines and progress to the user"
              SEES base os cli/options perf/record render render/all render/profile report
              USES json)
memtrace_room(src/cli/terminal "a full screen: keys in, frames out" SEES base base/thread os)
memtrace_room(src/cli/top "the live screen: what is on it, and what keys do"
              SEES base os cli/terminal perf/record render report)
memtrace_room(src/cli "the commands"
              SEES base os os/own cli/options cli/output cli/terminal cli/top decode doctor identity observe
                   perf/convert perf/event
                   perf/target overview perf/record perf/live perf/file_in plan/events programs
                   recording render render/all report sections session session/dispatch timeline tracepoints/format
                   tracepoints/decode tracepoints/probe views views/all views/kit
                   views/failure views/oom watch)
memtrace_room(src "main" SEES base os cli)
