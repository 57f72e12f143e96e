// user, uid, cgroup and container: keys and filters of every view.
#include "views/kit/identity_keys.h"

#include "support/event_script.h"
#include "views/all/all_views.h"

namespace memtrace::test {
namespace {

Step of_process(std::uint32_t pid, std::uint64_t ptr) {
  Step step = kmalloc({.ptr = ptr, .bytes_req = 60, .bytes_alloc = 64});
  step.pid = pid;
  return step;
}

// Two processes of anna's in one container, one of root's, one that is not known.
void play(EventScript& script) {
  World& world = script.world();
  world.identities().name_user(1000, "anna");
  world.identify(1, world.identities().intern(1000, "/web.service"));
  world.identify(2, world.identities().intern(1000, "/web.service/below"));
  world.identify(3, world.identities().intern(0, "/web.service"));
  script.play({of_process(1, 0x10),
               of_process(2, 0x20),
               of_process(3, 0x30),
               of_process(4, 0x40),
               kfree(0x999)});
}

std::size_t rows_by(const char* view, const char* key) {
  EventScript script(view, {.by = {key}});
  play(script);
  return script.finish().tables[0].rows.size();
}

TEST(IdentityKeys, rows_are_of_users_cgroups_and_containers) {
  EventScript by_user("kmalloc", {.by = {"user", "uid"}});
  play(by_user);
  const Report report = by_user.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 3U);
  EXPECT_EQ(figure(report, {text("anna"), number(1000)}, "count"), number(2));
  EXPECT_EQ(figure(report, {text("0"), number(0)}, "count"), number(1));
  EXPECT_EQ(figure(report, {Cell(), Cell()}, "count"), number(1));
  EventScript by_cgroup("kmalloc", {.by = {"cgroup"}});
  play(by_cgroup);
  EXPECT_EQ(figure(by_cgroup.finish(), {text("/web.service")}, "count"), number(2));
  EventScript by_container("kmalloc", {.by = {"container"}});
  play(by_container);
  EXPECT_EQ(figure(by_container.finish(), {text("web.service")}, "count"), number(3));
}

// Two shells, one of which becomes another program.
void play_lives(EventScript& script) {
  World& world = script.world();
  const auto map = [&world](std::uint32_t pid, const char* path) {
    world.map({.pid = pid,
               .range = {.start = 0x1000, .limit = 0x2000},
               .module = {.kind = ModuleKind::File, .path = path}});
  };
  map(1, "/bin/sh");
  map(2, "/bin/sh");
  map(2, "/lib/libc.so");
  world.describe(1, 9, "sh one");
  world.describe(2, 9, "sh two");
  script.play({of_process(1, 0x10), of_process(2, 0x20)});
  world.exec(2);
  map(2, "/bin/make");
  script.play({of_process(2, 0x30), of_process(3, 0x40)});
}

TEST(IdentityKeys, rows_are_of_programs_commands_and_parents) {
  EventScript by_exe("kmalloc", {.by = {"exe"}});
  play_lives(by_exe);
  const Report exes = by_exe.finish();
  EXPECT_EQ(exes.tables[0].rows.size(), 3U);
  EXPECT_EQ(figure(exes, {text("/bin/sh")}, "count"), number(2));
  EXPECT_EQ(figure(exes, {text("/bin/make")}, "count"), number(1));
  EventScript by_command("kmalloc", {.by = {"command"}});
  play_lives(by_command);
  const Report commands = by_command.finish();
  EXPECT_EQ(figure(commands, {text("sh two")}, "count"), number(1));
  EXPECT_EQ(figure(commands, {Cell()}, "count"), number(2));
  EventScript by_parent("kmalloc", {.by = {"ppid"}});
  play_lives(by_parent);
  EXPECT_EQ(figure(by_parent.finish(), {number(9)}, "count"), number(3));
}

TEST(IdentityKeys, units_are_of_the_services_not_of_their_cgroups) {
  EventScript script("kmalloc", {.by = {"unit"}});
  play(script);
  EXPECT_EQ(figure(script.finish(), {text("web.service")}, "count"), number(3));
}

TEST(IdentityKeys, live_blocks_are_in_their_owners_rows) {
  EXPECT_EQ(rows_by("slab", "user"), 3U);
  EXPECT_EQ(rows_by("slab", "cgroup"), 3U);
  EXPECT_EQ(rows_by("kleaks", "container"), 2U);
  EXPECT_EQ(rows_by("kleaks", "ppid"), 1U);
}

TEST(IdentityKeys, count_takes_them_beside_fields) {
  EXPECT_EQ(rows_by("count", "user"), 3U);
  EXPECT_EQ(rows_by("count", "container"), 2U);
}

TEST(IdentityKeys, every_view_with_pid_takes_them) {
  for (const NamedView& view : all_views()) {
    for (const KeySpec& key : identity_keys()) {
      EXPECT_EQ(view.spec.make({.by = {std::string(key.name)}}).ok(),
                takes_key(view.spec.keys, key.name))
          << view.name;
    }
  }
}

TEST(IdentityKeys, unknown_key_names_them_among_the_right_ones) {
  const auto made = find_view("slab")->spec.make({.by = {"zzzzzzzz"}});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().hint.find("user, uid, cgroup, container"), std::string::npos);
}

TEST(IdentityKeys, options_know_whether_they_ask_for_them) {
  EXPECT_FALSE(ViewOptions{.by = {"pid"}}.asks_identity());
  EXPECT_TRUE((ViewOptions{.by = {"pid", "container"}}.asks_identity()));
  EXPECT_TRUE((ViewOptions{.tasks = {.uids = {0}}}.asks_identity()));
  EXPECT_TRUE((ViewOptions{.tasks = {.cgroups = {"x"}}}.asks_identity()));
}

class TaskFilterTest : public testing::Test {
 protected:
  TaskFilterTest() {
    world_.identities().name_user(1000, "anna");
    world_.identify(7, world_.identities().intern(1000, "/system.slice/web.service"));
    world_.processes().rename(7, 7, world_.strings().intern("httpd"));
  }

  bool accepts(const TaskFilter& filter, std::uint32_t pid = 7) {
    Event event{.pid = pid, .tid = pid};
    world_.apply(event, {});
    EXPECT_EQ(filter.accepts_process(world_, pid), filter.accepts(world_, event));
    return filter.accepts(world_, event);
  }

  World world_{{}};
};

TEST_F(TaskFilterTest, users_by_number_or_name) {
  EXPECT_TRUE(accepts({.uids = {5, 1000}}));
  EXPECT_TRUE(accepts({.users = {"anna"}}));
  EXPECT_TRUE(accepts({.uids = {5}, .users = {"anna"}})) << "either will do";
  EXPECT_FALSE(accepts({.uids = {0}}));
  EXPECT_FALSE(accepts({.users = {"ann"}}));
}

TEST_F(TaskFilterTest, cgroups_by_a_part_of_their_path) {
  EXPECT_TRUE(accepts({.cgroups = {"web.service"}}));
  EXPECT_TRUE(accepts({.cgroups = {"nothing", "system.slice/web"}}));
  EXPECT_FALSE(accepts({.cgroups = {"db.service"}}));
}

TEST_F(TaskFilterTest, containers_by_their_short_name) {
  const std::string id(64, 'a');
  world_.identify(7, world_.identities().intern(0, "/system.slice/docker-" + id + ".scope"));
  EXPECT_TRUE(accepts({.cgroups = {"docker:aaaaaaaaaaaa"}}));
}

TEST_F(TaskFilterTest, all_kinds_must_agree) {
  EXPECT_TRUE(accepts({.comms = {"httpd"}, .pids = {7}, .uids = {1000}, .cgroups = {"web"}}));
  EXPECT_TRUE(accepts({.comms = {"ht*"}}));
  EXPECT_TRUE(accepts({.comms = {"sshd", "http?"}}));
  EXPECT_FALSE(accepts({.comms = {"tt"}}));
  EXPECT_FALSE(accepts({.comms = {"sshd"}, .pids = {7}, .uids = {1000}, .cgroups = {"web"}}));
  EXPECT_FALSE(accepts({.comms = {"httpd"}, .pids = {8}, .uids = {1000}, .cgroups = {"web"}}));
}

TEST_F(TaskFilterTest, whom_nobody_knows_passes_only_without_such_a_filter) {
  EXPECT_TRUE(accepts({}, 99));
  EXPECT_FALSE(accepts({.uids = {0}}, 99));
  EXPECT_FALSE(accepts({.cgroups = {""}}, 99));
}

}  // namespace
}  // namespace memtrace::test
