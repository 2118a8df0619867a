/* Launching, in the double of libarapuca: see libarapuca.c, which includes this. */

/* moved is a copy of a descriptor, out of the way of those that the program gets. */
static int moved(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 200); }

/* become is the child, between fork and exec: nothing but system calls. */
static void become(const char *path, char **argv, char **env, const int *fds, int count, pid_t parent)
{
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(125);
	for (int i = 0; i < count; i++)
		if (dup2(fds[i], i) < 0)
			_exit(125);
	syscall(SYS_close_range, count, ~0U, 0);
	execve(path, argv, env);
	_exit(125);
}

/* hear reads the program's one line; an empty one is a program that has died. */
static void hear(int fd, char *line, size_t size)
{
	size_t n = 0;
	ssize_t got;
	while (n + 1 < size && ((got = read(fd, line + n, 1)) == 1 || (got < 0 && errno == EINTR)))
		if (got == 1 && line[n++] == '\n') {
			n--;
			break;
		}
	line[n] = 0;
}

static void remove_dir(const char *dir)
{
	char socket[PATH_MAX + 16];
	snprintf(socket, sizeof socket, "%s/connect.sock", dir);
	unlink(socket); /* where there was a proxy */
	rmdir(dir);
}

static int reap(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* start forks the program with what it needs and waits for its line. */
static bool start(struct arapuca_ArapucaProcess *p, const char *path, char **argv, char **env,
	const struct arapuca_ArapucaConfig *c, const int32_t *extra, size_t extras)
{
	int pair[2], fds[64], count = 3 + (int)extras + 1;
	if (extras > 60 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return say("launch: descriptors: %s", strerror(errno)), false;
	for (int i = 0; i < 3; i++)
		fds[i] = moved(c->streams[i]);
	for (size_t i = 0; i < extras; i++)
		fds[3 + i] = moved(extra[i]);
	fds[count - 1] = moved(pair[1]);
	close(pair[1]);
	pid_t self = getpid();
	if ((p->pid = fork()) == 0)
		become(path, argv, env, fds, count, self);
	for (int i = 0; i < count; i++)
		close(fds[i]);
	char line[4096] = "";
	if (p->pid > 0)
		hear(pair[0], line, sizeof line);
	p->line = pair[0];
	if (strcmp(line, "ok") == 0)
		return true;
	if (p->pid > 0)
		reap(p->pid);
	close(pair[0]);
	if (strncmp(line, "proxy: ", 7) == 0 && chosen("exit125-of-host"))
		exit(125);
	return say("launch: %s", line[0] ? line : "the program ended"), false;
}

static char *decimal(size_t n)
{
	char *text;
	return asprintf(&text, "%zu", n) < 0 ? NULL : text;
}

struct arapuca_ArapucaProcess *arapuca_launch(struct arapuca_ArapucaSandbox *s, const struct arapuca_ArapucaConfig *c,
	const char *cmd, const char *const *args, uintptr_t count, const int32_t *extra, uintptr_t extras)
{
	(void)s;
	message[0] = 0;
	if (c->proxy && strchr(c->proxy, ':'))
		return say("launch: the socket path holds a colon"), NULL;
	if (c->proxy && c->rules && !chosen("both-ignored"))
		return say("launch: allowed hosts and a network proxy exclude each other"), NULL;
	for (size_t i = 0; i + 1 < c->flags.count; i++)
		if (strncmp(c->flags.text[i], "--r", 3) == 0 && strchr(c->flags.text[i + 1], ':'))
			return say("launch: the path %s holds a colon", c->flags.text[i + 1]), NULL;
	struct arapuca_ArapucaProcess *p = NEW(arapuca_ArapucaProcess);
	char *path = arapuca_wrapper_path(), *dir = arapuca_make_tmp_dir(c->task), *fds = decimal(extras);
	struct list line = {0}, env = {0};
	bool started = false;
	if (!path)
		say("launch: there is no program arapuca");
	if (path && dir) {
		strncpy(p->dir, dir, sizeof p->dir - 1);
		add(&line, "arapuca"), add(&line, "launch"), add2(&line, "--tmp", dir), add2(&line, "--fds", fds);
		add_all(&line, &c->flags);
		if (c->proxy && !c->rules)
			add2(&line, "--proxy-socket", c->proxy);
		add(&line, "--"), add(&line, cmd);
		for (uintptr_t i = 0; i < count; i++)
			add(&line, args[i]);
		add_all(&env, &c->env);
		for (char **own = environ; own && *own; own++)
			if (strncmp(*own, "ARAPUCA_DOUBLE=", 15) == 0 || strncmp(*own, "PATH=", 5) == 0)
				add(&env, *own);
		started = start(p, path, line.text, env.text, c, extra, extras);
	}
	if (!started) {
		if (dir)
			remove_dir(dir);
		free(p);
		p = NULL;
	}
	drop(&line), drop(&env), free(path), free(dir), free(fds);
	return p;
}

uint32_t arapuca_process_pid(const struct arapuca_ArapucaProcess *p) { return (uint32_t)p->pid; }

int32_t arapuca_process_signal(const struct arapuca_ArapucaProcess *p, int32_t signal)
{
	if (!p->over && kill(p->pid, signal) == 0)
		return 0;
	return say("signal: %s", strerror(errno)), -1;
}

int32_t arapuca_process_wait(struct arapuca_ArapucaProcess *p)
{
	int status = reap(p->pid);
	p->over = true;
	close(p->line);
	remove_dir(p->dir);
	if (status == -1)
		return say("wait: %s", strerror(errno)), -1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* -1 is an error as well: only the text tells SIGHUP from one. */
	say("killed by signal %d", WTERMSIG(status));
	return -WTERMSIG(status);
}

void arapuca_process_cleanup(struct arapuca_ArapucaProcess *p) { free(p); }
uint32_t arapuca_process_oom_count(const struct arapuca_ArapucaProcess *p) { return (void)p, 0; }

int32_t arapuca_process_resource_stats(const struct arapuca_ArapucaProcess *p, struct arapuca_ArapucaResourceUsage *out)
{
	(void)p;
	memset(out, 0, sizeof *out);
	return 0;
}

/* The host. */

static char *temporary(const char *name)
{
	const char *base = getenv("TMPDIR");
	char *path;
	if (asprintf(&path, "%s/arapuca-%s-XXXXXX", base && *base ? base : "/tmp", name) < 0)
		return NULL;
	if (mkdtemp(path))
		return path;
	say("make a directory: %s: %s", path, strerror(errno));
	free(path);
	return NULL;
}

char *arapuca_make_socket_dir(void) { return temporary("sock"); }
char *arapuca_make_tmp_dir(const char *task) { return temporary(task); }
void arapuca_free_string(char *s) { free(s); }
void arapuca_enable_selfexec_mode(void) {}
int32_t arapuca_handle_selfexec_if_wrapper(int32_t argc, const char *const *argv) { return (void)argc, (void)argv, -1; }
uint64_t arapuca_disk_usage_mb(const char *path) { return (void)path, 0; }

/* in finds arapuca in a directory. */
static char *in(const char *dir, int length)
{
	char *path;
	if (length == 0 || asprintf(&path, "%.*s/arapuca", length, dir) < 0)
		return NULL;
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

char *arapuca_wrapper_path(void)
{
	char self[PATH_MAX], *found, *end;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n > 0) {
		self[n] = 0;
		if ((end = strrchr(self, '/')) && (found = in(self, (int)(end - self))))
			return found;
	}
	const char *path = getenv("PATH");
	for (; path && *path; path += strcspn(path, ":"), path += *path == ':')
		if ((found = in(path, (int)strcspn(path, ":"))))
			return found;
	return NULL;
}

uint32_t arapuca_landlock_abi_version(void)
{
	long abi = syscall(444, NULL, 0, 1);
	return abi < 0 ? 0 : (uint32_t)abi;
}

bool arapuca_netns_available(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : 1);
	return (pid > 0 && reap(pid) == 0) != chosen("netns-wrong");
}
