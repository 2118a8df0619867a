/* A DOUBLE of libarapuca: it collects what its caller sets as a command line of the
 * double of the program arapuca, which it looks up by name, starts that and waits.
 * It has none of the library's code. The variable ARAPUCA_DOUBLE chooses, as in
 * package behaviour, what it imitates: exit125-of-host, both-ignored, netns-wrong. */
#define _GNU_SOURCE
#include "arapuca.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Errors: one text a thread. */

static _Thread_local char message[8192];

static void say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
}

const char *arapuca_last_error(void) { return message[0] ? message : NULL; }

static bool chosen(const char *word)
{
	const char *all = getenv("ARAPUCA_DOUBLE");
	size_t n = strlen(word);
	for (; all && *all; all += strcspn(all, ","), all += *all == ',')
		if (strncmp(all, word, n) == 0 && (all[n] == 0 || all[n] == ','))
			return true;
	return false;
}

/* Lists of strings, which end with NULL as exec wants them. */

struct list {
	char **text;
	size_t count;
};

static void add(struct list *l, const char *text)
{
	l->text = realloc(l->text, (l->count + 2) * sizeof *l->text);
	l->text[l->count++] = strdup(text);
	l->text[l->count] = NULL;
}

static void add2(struct list *l, const char *flag, const char *value) { add(l, flag), add(l, value); }

static void add_number(struct list *l, const char *flag, uint64_t n)
{
	char text[32];
	snprintf(text, sizeof text, "%llu", (unsigned long long)n);
	if (n)
		add2(l, flag, text);
}

static void add_all(struct list *l, const struct list *more)
{
	for (size_t i = 0; i < more->count; i++)
		add(l, more->text[i]);
}

static void drop(struct list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->text[i]);
	free(l->text);
}

struct arapuca_ArapucaProfile { struct list flags; };
struct arapuca_ArapucaSandbox { int unused; };
struct arapuca_ArapucaProcess { pid_t pid; int line; bool over; char dir[PATH_MAX]; };
struct arapuca_ArapucaConfig {
	struct list flags, env;
	char task[256], *proxy;
	bool rules;
	int streams[3];
};

/* Profile. */

#define NEW(type) calloc(1, sizeof(struct type))

struct arapuca_ArapucaProfile *arapuca_profile_new(void) { return NEW(arapuca_ArapucaProfile); }

int32_t arapuca_profile_add_read_path(struct arapuca_ArapucaProfile *p, const char *path) { return add2(&p->flags, "--ro", path), 0; }
int32_t arapuca_profile_add_write_path(struct arapuca_ArapucaProfile *p, const char *path) { return add2(&p->flags, "--rw", path), 0; }
void arapuca_profile_set_memory_mb(struct arapuca_ArapucaProfile *p, uint64_t n) { add_number(&p->flags, "--memory", n); }
void arapuca_profile_set_max_pids(struct arapuca_ArapucaProfile *p, uint32_t n) { add_number(&p->flags, "--pids", n); }
void arapuca_profile_set_max_open_files(struct arapuca_ArapucaProfile *p, uint64_t n) { add_number(&p->flags, "--files", n); }
void arapuca_profile_set_cpu_pct(struct arapuca_ArapucaProfile *p, uint32_t n) { (void)p, (void)n; }
void arapuca_profile_set_max_file_size_mb(struct arapuca_ArapucaProfile *p, uint64_t n) { (void)p, (void)n; }
void arapuca_profile_set_allow_exec(struct arapuca_ArapucaProfile *p, bool on) { (void)p, (void)on; }
void arapuca_profile_set_cgroup_best_effort(struct arapuca_ArapucaProfile *p, bool on) { (void)p, (void)on; }
void arapuca_profile_set_dns_capture(struct arapuca_ArapucaProfile *p, bool on) { (void)p, (void)on; }

void arapuca_profile_set_netns(struct arapuca_ArapucaProfile *p, bool on)
{
	if (on)
		add(&p->flags, "--netns");
}

void arapuca_profile_set_pidns(struct arapuca_ArapucaProfile *p, bool on)
{
	if (on)
		add(&p->flags, "--pidns");
}

int32_t arapuca_profile_set_seccomp(struct arapuca_ArapucaProfile *p, const char *name)
{
	if (strcmp(name, "strict") != 0 && strcmp(name, "baseline") != 0)
		return say("unknown seccomp profile: %s", name), -1;
	return add2(&p->flags, "--seccomp", name), 0;
}

void arapuca_profile_free(struct arapuca_ArapucaProfile *p)
{
	if (p)
		drop(&p->flags), free(p);
}

/* Sandbox and configuration. */

struct arapuca_ArapucaSandbox *arapuca_sandbox_new(void) { return NEW(arapuca_ArapucaSandbox); }
bool arapuca_sandbox_cgroups_available(const struct arapuca_ArapucaSandbox *s) { return (void)s, false; }
void arapuca_sandbox_free(struct arapuca_ArapucaSandbox *s) { free(s); }

struct arapuca_ArapucaConfig *arapuca_config_new(void)
{
	struct arapuca_ArapucaConfig *c = NEW(arapuca_ArapucaConfig);
	for (int i = 0; c && i < 3; i++)
		c->streams[i] = i;
	return c;
}

int32_t arapuca_config_set_profile(struct arapuca_ArapucaConfig *c, const struct arapuca_ArapucaProfile *p) { return add_all(&c->flags, &p->flags), 0; }
int32_t arapuca_config_set_phase(struct arapuca_ArapucaConfig *c, const char *s) { return (void)c, (void)s, 0; }
int32_t arapuca_config_set_socket_dir(struct arapuca_ArapucaConfig *c, const char *s) { return (void)c, (void)s, 0; }
void arapuca_config_set_stdin_fd(struct arapuca_ArapucaConfig *c, int32_t fd) { c->streams[0] = fd; }
void arapuca_config_set_stdout_fd(struct arapuca_ArapucaConfig *c, int32_t fd) { c->streams[1] = fd; }
void arapuca_config_set_stderr_fd(struct arapuca_ArapucaConfig *c, int32_t fd) { c->streams[2] = fd; }

int32_t arapuca_config_set_task_id(struct arapuca_ArapucaConfig *c, const char *id)
{
	if (strchr(id, '/') || strlen(id) > 128)
		return say("invalid task id"), -1;
	return strcpy(c->task, id), 0;
}

int32_t arapuca_config_set_work_dir(struct arapuca_ArapucaConfig *c, const char *dir) { return add2(&c->flags, "--cwd", dir), 0; }

int32_t arapuca_config_set_network_proxy(struct arapuca_ArapucaConfig *c, const char *path)
{
	free(c->proxy);
	c->proxy = strdup(path);
	return 0;
}

int32_t arapuca_config_add_allowed_host(struct arapuca_ArapucaConfig *c, const char *host, uint16_t port)
{
	char text[4200];
	if (port == 0 || (size_t)snprintf(text, sizeof text, "%s:%u", host, port) >= sizeof text)
		return say("no rule: %s", host), -1;
	add2(&c->flags, "--allow-rule", text);
	c->rules = true;
	return 0;
}

int32_t arapuca_config_add_env(struct arapuca_ArapucaConfig *c, const char *name, const char *value)
{
	char *text;
	if (asprintf(&text, "ARAPUCA_GIVEN_%s=%s", name, value) < 0)
		return say("out of memory"), -1;
	add(&c->env, text);
	free(text);
	return 0;
}

void arapuca_config_free(struct arapuca_ArapucaConfig *c)
{
	if (c)
		drop(&c->flags), drop(&c->env), free(c->proxy), free(c);
}

#include "launch.c"
