#include "state/process/container_name.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace memtrace {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

struct Named {
  std::string path;
  std::string name;
};

void expect_names(const std::vector<Named>& cases) {
  for (const Named& each : cases) {
    EXPECT_EQ(container_name(each.path), each.name) << each.path;
  }
}

TEST(ContainerName, docker_and_podman_by_their_drivers) {
  expect_names({{"/docker/" + kId, "docker:0123456789ab"},
                {"/system.slice/docker-" + kId + ".scope", "docker:0123456789ab"},
                {"/machine.slice/libpod-" + kId + ".scope", "podman:0123456789ab"},
                {"/machine.slice/libpod-" + kId + ".scope/container", "podman:0123456789ab"},
                {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId +
                     ".scope/container",
                 "podman:0123456789ab"},
                {"/libpod_parent/libpod-" + kId, "podman:0123456789ab"},
                {"/system.slice/nerdctl-" + kId + ".scope", "containerd:0123456789ab"}});
}

TEST(ContainerName, kubernetes_by_its_runtime_or_else_as_kubepods) {
  const std::string pod = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice";
  expect_names(
      {{pod + "/cri-containerd-" + kId + ".scope", "containerd:0123456789ab"},
       {pod + "/crio-" + kId + ".scope", "cri-o:0123456789ab"},
       {pod + "/docker-" + kId + ".scope", "docker:0123456789ab"},
       {"/kubepods/besteffort/pod1234-56/" + kId, "kubepods:0123456789ab"},
       {"/system.slice/containerd.service/kubepods-besteffort-pod1.slice:cri-containerd:" + kId,
        "containerd:0123456789ab"}});
}

TEST(ContainerName, lxc_by_name_in_all_its_layouts) {
  expect_names({{"/lxc/web", "lxc:web"},
                {"/lxc/web/ns", "lxc:web"},
                {"/lxc.payload.web", "lxc:web"},
                {"/lxc.payload/web", "lxc:web"},
                {"/lxc.payload.web/system.slice/ssh.service", "lxc:web"},
                {"/lxc.monitor.web", "/lxc.monitor.web"}});
}

TEST(ContainerName, the_innermost_of_nested_containers_counts) {
  expect_names({{"/lxc.payload.web/docker/" + kId, "docker:0123456789ab"}});
}

TEST(ContainerName, machines_that_systemd_registers) {
  expect_names({{"/machine.slice/machine-qemu\\x2d3\\x2ddb.scope", "machine:qemu-3-db"},
                {"/machine.slice/machine-debian.scope/payload", "machine:debian"},
                {"/machine.slice/systemd-nspawn@debian.service/payload", "machine:debian"}});
}

TEST(ContainerName, a_monitor_beside_a_container_is_not_in_it) {
  expect_names(
      {{"/machine.slice/libpod-conmon-" + kId + ".scope", "libpod-conmon-" + kId + ".scope"}});
}

TEST(ContainerName, without_a_container_it_is_the_innermost_unit) {
  expect_names({{"/system.slice/ssh.service", "ssh.service"},
                {"/system.slice/postgresql@15-main.service/worker", "postgresql@15-main.service"},
                {"/user.slice/user-1000.slice/session-3.scope", "session-3.scope"},
                {"/user.slice", "user.slice"},
                {"/init.scope", "init.scope"}});
}

TEST(ContainerName, without_a_unit_it_is_the_path) {
  expect_names(
      {{"/", "/"},
       {"", ""},
       {"/batch/job7", "/batch/job7"},
       {"/batch/" + kId, "batch:0123456789ab"},
       {"/" + kId, "0123456789ab"},
       {"/batch/8e2d54ce20413fb71f7e4ee19951a4ef", "/batch/8e2d54ce20413fb71f7e4ee19951a4ef"},
       {"/machine-odd\\xzz", "/machine-odd\\xzz"},
       {"/docker-.scope", "docker-.scope"}});
}

TEST(UnitName, is_of_the_unit_and_not_of_what_the_unit_keeps_in_itself) {
  const auto expected = std::to_array<std::pair<std::string, std::string>>(
      {{"/system.slice/ssh.service", "ssh.service"},
       {"/system.slice/docker-" + kId + ".scope", "docker-" + kId + ".scope"},
       {"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"},
       {"/user.slice/user-1000.slice/user@1000.service/app.slice/x.service", "user@1000.service"},
       {"/user.slice/user-1000.slice/session-3.scope", "session-3.scope"},
       {"/system.slice", "system.slice"},
       {"/batch/ssh.service", ""},
       {"/", ""},
       {"", ""}});
  for (const auto& [path, unit] : expected) {
    EXPECT_EQ(unit_name(path), unit) << path;
  }
}

}  // namespace
}  // namespace memtrace
