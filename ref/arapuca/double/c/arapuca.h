/* The C interface of libarapuca as far as go-arapuca calls it, for a DOUBLE of the
 * library: written from the names and types that callers use, with none of the
 * library's code. A string result is freed by arapuca_free_string; int32_t results
 * are 0 for success and -1 for an error, which arapuca_last_error tells to the same
 * thread. */
#ifndef ARAPUCA_H
#define ARAPUCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define arapuca_BRIDGE_PORT 18080

typedef struct arapuca_ArapucaProfile arapuca_ArapucaProfile;
typedef struct arapuca_ArapucaConfig arapuca_ArapucaConfig;
typedef struct arapuca_ArapucaSandbox arapuca_ArapucaSandbox;
typedef struct arapuca_ArapucaProcess arapuca_ArapucaProcess;

typedef struct arapuca_ArapucaResourceUsage {
	int64_t memory_current_bytes;
	int64_t memory_peak_bytes;
	double cpu_usage_seconds;
	int64_t pid_count;
	int64_t io_read_bytes;
	int64_t io_write_bytes;
} arapuca_ArapucaResourceUsage;

struct arapuca_ArapucaProfile *arapuca_profile_new(void);
int32_t arapuca_profile_add_read_path(struct arapuca_ArapucaProfile *, const char *);
int32_t arapuca_profile_add_write_path(struct arapuca_ArapucaProfile *, const char *);
void arapuca_profile_set_memory_mb(struct arapuca_ArapucaProfile *, uint64_t);
void arapuca_profile_set_cpu_pct(struct arapuca_ArapucaProfile *, uint32_t);
void arapuca_profile_set_max_pids(struct arapuca_ArapucaProfile *, uint32_t);
void arapuca_profile_set_max_file_size_mb(struct arapuca_ArapucaProfile *, uint64_t);
void arapuca_profile_set_max_open_files(struct arapuca_ArapucaProfile *, uint64_t);
void arapuca_profile_set_allow_exec(struct arapuca_ArapucaProfile *, bool);
void arapuca_profile_set_cgroup_best_effort(struct arapuca_ArapucaProfile *, bool);
void arapuca_profile_set_netns(struct arapuca_ArapucaProfile *, bool);
void arapuca_profile_set_pidns(struct arapuca_ArapucaProfile *, bool);
void arapuca_profile_set_dns_capture(struct arapuca_ArapucaProfile *, bool);
int32_t arapuca_profile_set_seccomp(struct arapuca_ArapucaProfile *, const char *);
void arapuca_profile_free(struct arapuca_ArapucaProfile *);

struct arapuca_ArapucaSandbox *arapuca_sandbox_new(void);
bool arapuca_sandbox_cgroups_available(const struct arapuca_ArapucaSandbox *);
void arapuca_sandbox_free(struct arapuca_ArapucaSandbox *);

struct arapuca_ArapucaConfig *arapuca_config_new(void);
int32_t arapuca_config_set_profile(struct arapuca_ArapucaConfig *, const struct arapuca_ArapucaProfile *);
int32_t arapuca_config_set_task_id(struct arapuca_ArapucaConfig *, const char *);
int32_t arapuca_config_set_phase(struct arapuca_ArapucaConfig *, const char *);
int32_t arapuca_config_set_socket_dir(struct arapuca_ArapucaConfig *, const char *);
int32_t arapuca_config_set_work_dir(struct arapuca_ArapucaConfig *, const char *);
void arapuca_config_set_stdin_fd(struct arapuca_ArapucaConfig *, int32_t);
void arapuca_config_set_stdout_fd(struct arapuca_ArapucaConfig *, int32_t);
void arapuca_config_set_stderr_fd(struct arapuca_ArapucaConfig *, int32_t);
int32_t arapuca_config_set_network_proxy(struct arapuca_ArapucaConfig *, const char *);
int32_t arapuca_config_add_allowed_host(struct arapuca_ArapucaConfig *, const char *, uint16_t);
int32_t arapuca_config_add_env(struct arapuca_ArapucaConfig *, const char *, const char *);
void arapuca_config_free(struct arapuca_ArapucaConfig *);

struct arapuca_ArapucaProcess *arapuca_launch(struct arapuca_ArapucaSandbox *, const struct arapuca_ArapucaConfig *,
	const char *, const char *const *, uintptr_t, const int32_t *, uintptr_t);
uint32_t arapuca_process_pid(const struct arapuca_ArapucaProcess *);
int32_t arapuca_process_signal(const struct arapuca_ArapucaProcess *, int32_t);
int32_t arapuca_process_wait(struct arapuca_ArapucaProcess *); /* a code, -1, or minus a signal */
int32_t arapuca_process_resource_stats(const struct arapuca_ArapucaProcess *, struct arapuca_ArapucaResourceUsage *);
uint32_t arapuca_process_oom_count(const struct arapuca_ArapucaProcess *);
void arapuca_process_cleanup(struct arapuca_ArapucaProcess *);

char *arapuca_make_socket_dir(void);
char *arapuca_make_tmp_dir(const char *);
char *arapuca_wrapper_path(void);
uint32_t arapuca_landlock_abi_version(void);
bool arapuca_netns_available(void);
uint64_t arapuca_disk_usage_mb(const char *);
void arapuca_free_string(char *);
const char *arapuca_last_error(void);
void arapuca_enable_selfexec_mode(void);
int32_t arapuca_handle_selfexec_if_wrapper(int32_t, const char *const *);

#endif
