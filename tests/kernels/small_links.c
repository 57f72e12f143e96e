/*
 * What the sources of RHEL 6 and 7 refer to and leave out with options as few as those of
 * small.config: build_image adds this file to such a tree. What the tree has itself is taken
 * instead. None of it is used by what a guest does, but for static_key_enabled(): the first member
 * of a key is its count.
 */
#define ABSENT __attribute__((weak))

ABSENT _Bool static_key_enabled(const int* enabled) {
  return *enabled > 0;
}

ABSENT long xen_pv_domain(void) {
  return 0;
}

ABSENT long arch_kexec_post_alloc_pages(void) {
  return 0;
}

ABSENT long arch_kexec_pre_free_pages(void) {
  return 0;
}

ABSENT long pudp_clear_flush_notify(void) {
  return 0;
}

ABSENT long trace_bpf_jit_free(void) {
  return 0;
}

ABSENT long pcie_get_port_device_capability(void) {
  return 0;
}

ABSENT long pci_ats_init(void) {
  return 0;
}

ABSENT long pci_ats_free(void) {
  return 0;
}

ABSENT long utf16s_to_utf8s(void) {
  return 0;
}

ABSENT long acpi_early_processor_osc(void) {
  return 0;
}

ABSENT long vga_default_device(void) {
  return 0;
}

ABSENT long vga_set_default_device(void) {
  return 0;
}

ABSENT long num_poisoned_pages = 0;
ABSENT int selinux_enabled = 0;
ABSENT int pci_sriov_enabled = 0;
ABSENT _Bool pcie_ports_disabled = 1;

/* One that is never detected: its name, and what detects it. */
static _Bool never(void) {
  return 0;
}

const struct {
  const char* name;
  _Bool (*detect)(void);
  void* others[6];
} x86_hyper_kvm ABSENT = {"", never};

/* An empty section. */
char __irqentry_text_start[1] __attribute__((nocommon));
extern char __irqentry_text_end[1] __attribute__((alias("__irqentry_text_start")));
