// Words that memtrace cannot follow: status 2, what was wrong, what is right.
#include "cli/program.h"

namespace memtrace::test {
namespace {

struct Wrong {
  const char* words;
  const char* sentence;
  const char* hint;

  // For the test's name in ctest, which else has the bytes of the struct.
  friend std::ostream& operator<<(std::ostream& out, const Wrong& wrong) {
    return out << wrong.words;
  }
};

class UsageTest : public ProgramTest, public testing::WithParamInterface<Wrong> {};

TEST_P(UsageTest, is_told_and_what_is_right) {
  expect_refused(GetParam().words, 2, GetParam().sentence, GetParam().hint);
}

INSTANTIATE_TEST_SUITE_P(
    name,
    UsageTest,
    testing::Values(
        Wrong{"kmalok", "unknown command or view 'kmalok'", "did you mean kmalloc?"},
        Wrong{"recrod", "unknown command or view 'recrod'", "did you mean record?"},
        Wrong{"zzzzzz", "unknown command or view 'zzzzzz'", "memtrace help lists them"},
        Wrong{"report kmaloc", "unknown view 'kmaloc'", "did you mean kmalloc"},
        Wrong{"report slabratetpo", "unknown view 'slabratetpo'", "did you mean slabratetop?"},
        Wrong{"report kmem --by nope -i $CROWD", "--by nope", "keys are cache, "},
        Wrong{"report zzzzzz", "unknown view 'zzzzzz'", "views are: anon, arenas, brk"},
        Wrong{"record --for kmaloc -- true", "unknown view 'kmaloc'", "did you mean kmalloc"},
        Wrong{"record --for kpagse -- true", "unknown view 'kpagse'", "did you mean kpages"},
        Wrong{"help kmaloc", "no help on 'kmaloc'", "did you mean kmalloc"},
        Wrong{"help zzzzzz", "no help on 'zzzzzz'", "topics are: "}));

INSTANTIATE_TEST_SUITE_P(
    option,
    UsageTest,
    testing::Values(
        Wrong{"report --formt json", "unrecognised option '--formt'", "did you mean --format"},
        Wrong{"report --zzzzzz", "unrecognised option '--zzzzzz'", ""},
        Wrong{"report kmalloc --older 3", "unrecognised option '--older'", ""},
        Wrong{"report -i", "the required argument for option '--input' is missing", ""},
        Wrong{"report kmalloc faults", "'faults'", "one view at a time"},
        Wrong{"record", "nothing to watch", "give one of -a"},
        Wrong{"leaks", "nothing to watch", "give one of -p PID"},
        Wrong{"heaptrack", "nothing to watch", "give one of -p PID"},
        Wrong{"calls -e uprobe:libc:malloc", "nothing to watch", "give one of -p PID"},
        Wrong{"leaks -a",
              "this sets probes on the code of every process",
              "give --yes-all-processes"},
        Wrong{"record -a --for heap",
              "this sets probes on the code of every",
              "give --yes-all-processes"},
        Wrong{"calls -a -e uprobe:libc:free",
              "this sets probes on the code",
              "give --yes-all-processes"},
        Wrong{"memleak -a",
              "unrecognised option '--show-allocs'",
              "memtrace kleaks --addresses lists the kernel's blocks"},
        Wrong{"leaks -p 1 --yes-all-processes", "more than one thing to watch", "give one of -a"},
        Wrong{"record -a -p 1", "more than one thing to watch", "give one of -a"},
        Wrong{"record true", "'true'", "put the command after --"},
        Wrong{"kmalloc -a soon", "'soon'", "give an interval in seconds and a count"},
        Wrong{"kmalloc -a 1 0", "'0'", "give an interval in seconds and a count"}));

INSTANTIATE_TEST_SUITE_P(
    of_another_tool,
    UsageTest,
    testing::Values(
        Wrong{"memleak -o 500", "unrecognised option '-o'", "memleak's -o is --older here"},
        Wrong{"drsnoop -e", "unrecognised option '-e'", "each line has the free memory"},
        Wrong{"drsnoop -U", "unrecognised option '-U'", "each line has the uid"},
        Wrong{"compactsnoop -e",
              "unrecognised option '-e'",
              "each line has its zone's watermarks and fragmentation"},
        Wrong{"heaptrack -a x.zst", "unrecognised option '-a'", "memtrace report heap -i FILE"},
        Wrong{"vmscan -v", "unrecognised option '-v'", "record --dry-run --for VIEW"},
        Wrong{"report -n",
              "the required argument for option '--limit' is missing",
              "counts are always"},
        Wrong{"report kmalloc -g", "unrecognised option '-g'", "--tree shows calls as a tree"},
        Wrong{"report kmalloc --max-stack 5", "unrecognised option '--max-stack'", "--depth N"},
        Wrong{
            "record --tree -- true", "unrecognised option '--tree'", "this is an option of report"},
        Wrong{"shmsnoop -n bash", "unrecognised option '-n'", "shmsnoop's -n is --comm NAME here"},
        Wrong{"memleak -z 16", "unrecognised option '-z'", "memleak's -z is --min-bytes"},
        Wrong{"memleak -T 5", "unrecognised option '-T'", "memleak's -T is --top N"},
        Wrong{"memleak -c", "unrecognised option '-c'", "put a command after --"},
        Wrong{"drsnoop -T", "unrecognised option '-T'", "with --trace each row has its time"},
        Wrong{"drsnoop -n redis", "unrecognised option '-n'", "drsnoop's -n is --comm NAME"},
        Wrong{"compactsnoop -K",
              "unrecognised option '-K'",
              "--by stack prints the kernel's stack below each line"},
        Wrong{"slabratetop -C -r 5 1 1",
              "unrecognised option '-C'",
              "tables follow each other unless --clear is given"},
        Wrong{"slabratetop -r20", "unrecognised option '-r", "slabratetop's -r is --top N"},
        Wrong{"heaptrack -o x -- true",
              "unrecognised option '-o'",
              "to keep a recording: memtrace record --for heap -o FILE"},
        Wrong{"record -F 99 -a",
              "unrecognised option '-F'",
              "memtrace records every event, not at a frequency"},
        Wrong{"record -g -- true",
              "unrecognised option '-g'",
              "stacks are recorded unless --call-graph none"},
        Wrong{"record -G web -a", "unrecognised option '-G'", "perf's -G is --cgroup TEXT here"},
        Wrong{"record --switch-output=2G -a",
              "unrecognised option '--switch-output",
              "perf's --switch-output is --max-size SIZE"},
        Wrong{"report --stdio", "unrecognised option '--stdio'", "reports are text"},
        Wrong{"report -s comm", "unrecognised option '-s'", "perf's -s is --by KEY"},
        Wrong{"faults -i x",
              "unrecognised option '-i'",
              "report reads files: memtrace report VIEW -i FILE"},
        Wrong{"report $CROWD", "unknown view '", "give the file with -i: memtrace report -i"},
        Wrong{"script", "there is no command 'script'", "perf script -i FILE"},
        Wrong{"stat ls", "there is no command 'stat'", "memtrace count"},
        Wrong{"-a faults", "unknown option '-a'", "put the command or view before its options"}));

INSTANTIATE_TEST_SUITE_P(
    value,
    UsageTest,
    testing::Values(
        Wrong{"report --format xml", "unknown format 'xml'", "formats are text, json, csv, ndjson"},
        Wrong{"report --top many", "--top many", "takes a whole number"},
        Wrong{"report --min -1", "--min -1", "takes a whole number"},
        Wrong{"report --exclude '['", "--exclude [", "is not a regular expression"},
        Wrong{"report kmalloc -i $CROWD --by nope", "--by nope", "did you mean node?"},
        Wrong{"report kmalloc -i $CROWD --by zzzzzz", "--by zzzzzz", "keys are stack, caller"},
        Wrong{"report count -i $CROWD --by byte_req",
              "--by byte_req: no event has such a field",
              "did you mean bytes_req? fields are bytes_req, "},
        Wrong{"report count -i - --by cmm < $CROWD", "--by cmm: no event", "did you mean comm"},
        Wrong{"report count -i $CROWD --sum zzzzzz", "--sum zzzzzz: no event", "fields are "},
        Wrong{"report count -i $CROWD --hist ordr", "--hist ordr: no event", "did you mean order"},
        Wrong{"report kmalloc --since 1 --time 1,2 -i $CROWD", "--time beside --since", "--time S"},
        Wrong{"report kmalloc -n few -i $CROWD", "--top few", "takes a whole number"},
        Wrong{"list things", "memtrace list views, events or keys", "memtrace list events"},
        Wrong{"list keys kmalok", "unknown view 'kmalok'", "did you mean kmalloc?"},
        Wrong{"list views faults", "memtrace list views, events or keys", ""},
        Wrong{"report kmalloc --width 5 -i $CROWD", "--width 5", "takes a number of columns"},
        Wrong{"report kmalloc --width all -i $CROWD", "--width all", "takes a number of columns"},
        Wrong{"report --tree -i $CROWD", "--tree without a view", "name one, "},
        Wrong{"report kmalloc --depth 3 --by comm -i $CROWD",
              "--depth: stacks are not among the keys",
              "group by them: --by stack"},
        Wrong{"report kmalloc --depth deep -i $CROWD", "--depth deep", "takes a whole number"},
        Wrong{"report leaks --depth 3 --suppressions /dev/null -i $CROWD",
              "--depth beside --suppressions",
              "suppressions look at whole stacks"},
        Wrong{"report kmalloc --tree=up -i $CROWD", "--tree=up", "takes caller or callee"},
        Wrong{"report kmalloc --tree --by comm -i $CROWD",
              "--tree: the report has no stacks",
              "group by them: --by stack"},
        Wrong{"report kmalloc --tree --format folded -i $CROWD", "--tree prints no folded", ""},
        Wrong{"diff $CROWD $CROWD kmalloc --tree", "--tree: a difference is a table", ""},
        Wrong{"report kmalloc -i $CROWD --sort name", "--sort name", "columns: stack, count"},
        Wrong{"report slab -i $CROWD --show bytes,colour", "--show colour", "columns are all, "},
        Wrong{"report --uid 99999999999", "--uid 99999999999", "takes user ids or names"},
        Wrong{"record --period 0 -- true", "--period 0", "takes a whole number from 1 to"},
        Wrong{"record --period 99999999999999999999 -- true", "--period 9999", "takes a whole"},
        Wrong{"record --period 9223372036854775808 -- true", "--period 9223", "takes a whole"},
        Wrong{"record -d soon -- true", "--duration soon", "takes seconds, or 500ms"},
        Wrong{"record -p 0", "--pid 0", "takes ids"},
        Wrong{"record -p 1,x", "--pid x", "takes ids"},
        Wrong{"record -t 99999999999", "--tid 99999999999", "takes ids"},
        Wrong{"record -m 1Q -- true", "--ring-size 1Q", "takes a size"},
        Wrong{"record -m 512 -- true", "--ring-size 512", "takes bytes, not pages as perf's -m"},
        Wrong{"record --max-size 2Q -- true", "--max-size 2Q", "takes a size"},
        Wrong{"record --max-size 63K -- true", "--max-size 63K", "the smallest size is 64K"},
        Wrong{"record --max-time soon -- true", "--max-time soon", "takes seconds, or 500ms"},
        Wrong{"record --max-time 99ms -- true", "--max-time 99ms", "the shortest time is 100ms"},
        Wrong{
            "record --max-overhead 0 -- true", "--max-overhead 0", "takes a part of the programs'"},
        Wrong{"record --max-overhead 101% -- true", "--max-overhead 101%", "takes a part"},
        Wrong{"record --max-overhead 3%% -- true", "--max-overhead 3%%", "takes a part"},
        Wrong{"kmalloc --max-overhead nan -- true", "--max-overhead nan", "takes a part"},
        Wrong{"record --max-overhead 3% --period 2 -- true",
              "--max-overhead and --period",
              "give one of them: --max-overhead chooses"},
        Wrong{"record --keep 0 -- true", "--keep 0", "keep at least 1 file"},
        Wrong{"record --keep few -- true", "--keep few", "takes a whole number"},
        Wrong{"record --keep 2 -o - -- true", "--output -", "--max-size, --max-time and --keep"},
        Wrong{"record --max-size 1G -o dir/ -- true", "--output dir/", "--max-size, --max-time"},
        Wrong{"report -i $CROWD,-", "-i -", "a pipe is read alone"},
        Wrong{"record --call-graph lbr -- true", "--call-graph lbr", "takes fp, dwarf or none"},
        Wrong{"record --call-graph dwarf,100 -- true",
              "--call-graph dwarf,100",
              "dwarf takes a multiple of 8"},
        Wrong{"record --call-graph dwarf,64K -- true",
              "--call-graph dwarf,64K",
              "dwarf takes a multiple"},
        Wrong{"record --call-graph dwarf, -- true",
              "--call-graph dwarf,",
              "dwarf takes a multiple"}));

// Before its allocator is looked for, which nobody would find.
TEST_F(ProgramTest, a_process_that_is_gone_is_told) {
  for (const char* words : {"leaks -p 4194303", "record --for heap -p 4194303"}) {
    expect_refused(words, 1, "process 4194303: No such process", "no process has this id");
  }
}

}  // namespace
}  // namespace memtrace::test
