/* The library that `trunkline jet run` preloads into a program: it replaces connect(2) and socket(2), the latter for
 * --strict alone.
 *
 * A TCP connection to another host is connected to the gateway's door on loopback instead, and the door is told the
 * destination (crates/jet/src/door/preload/wire.rs). From then on the socket is an ordinary one: reads, writes, polls,
 * dup, fork and exec work as ever.
 *
 * It is linked against no library: what it calls it finds in the program's C library, be that glibc or musl.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef RTLD_NEXT
#define RTLD_NEXT ((void *)-1L)
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef TCP_FASTOPEN_CONNECT
#define TCP_FASTOPEN_CONNECT 30
#endif
/* Linux' name for the state in which a socket can be connected (include/net/tcp_states.h). */
#define STATE_CLOSE 7

/* Behind the path of the gateway's socket: the file that says where its doors are (wire.rs). */
#define DOORS ".doors"

/* How long the door may take to say where to connect, in seconds: it does nothing for it. */
#define VERDICT_PATIENCE 5

/* With --strict a filter denies TCP sockets without this in the fourth argument, which the kernel ignores
 * (launch/strict.rs). */
#define KEY 0x7472756e6b6c696eL

typedef int connect_function(int, const struct sockaddr *, socklen_t);
typedef int socket_function(int, int, int);

struct destination {
    uint8_t port[2];
    uint8_t address[16];
};

static connect_function *next_connect;
static socket_function *next_socket;

/* In glibc before 2.34 it is in a library that a program may not have. */
extern __typeof__(dlsym) dlsym __attribute__((weak));

static int kernel_connect(int fd, const struct sockaddr *to, socklen_t length)
{
    return (int)syscall(SYS_connect, fd, to, length);
}

static int kernel_socket(int family, int type, int protocol)
{
    return (int)syscall(SYS_socket, family, type, protocol);
}

__attribute__((constructor)) static void find_next(void)
{
    if (dlsym) {
        next_connect = (connect_function *)(uintptr_t)dlsym(RTLD_NEXT, "connect");
        next_socket = (socket_function *)(uintptr_t)dlsym(RTLD_NEXT, "socket");
    }
    if (!next_connect)
        next_connect = kernel_connect;
    if (!next_socket)
        next_socket = kernel_socket;
}

static int connect_directly(int fd, const struct sockaddr *to, socklen_t length)
{
    if (!next_connect)
        find_next();
    return next_connect(fd, to, length);
}

static int fail(int error)
{
    errno = error;
    return -1;
}

static const uint8_t MAPPED[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* The destination of a socket address, IPv4 as ::ffff:a.b.c.d; 0 if it is of no family that a door takes. */
static int read_destination(const struct sockaddr *to, socklen_t length, struct destination *out)
{
    if (!to || length < sizeof(sa_family_t))
        return 0;
    if (to->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        const struct sockaddr_in *in = (const void *)to;
        memcpy(out->port, &in->sin_port, 2);
        memcpy(out->address, MAPPED, 12);
        memcpy(out->address + 12, &in->sin_addr, 4);
        return 1;
    }
    /* The kernel, too, accepts one without the scope at its end (RFC 2133). */
    if (to->sa_family == AF_INET6 && length >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
        const struct sockaddr_in6 *in6 = (const void *)to;
        memcpy(out->port, &in6->sin6_port, 2);
        memcpy(out->address, &in6->sin6_addr, 16);
        return 1;
    }
    return 0;
}

/* Whether a destination is this host, its link, or nowhere: no gateway can reach it from elsewhere. */
static int is_near(const struct destination *to)
{
    static const uint8_t NOWHERE[16];
    const uint8_t *address = to->address;
    if (to->port[0] == 0 && to->port[1] == 0)
        return 1;
    if (memcmp(address, MAPPED, 12) == 0) {
        const uint8_t *v4 = address + 12;
        return v4[0] == 127 || v4[0] == 0 || v4[0] >= 224 || (v4[0] == 169 && v4[1] == 254);
    }
    if (memcmp(address, NOWHERE, 15) == 0)
        return address[15] <= 1; /* :: and ::1 */
    return address[0] == 0xff || (address[0] == 0xfe && (address[1] & 0xc0) == 0x80);
}

/* Whether a socket is a TCP socket about to be connected, over whichever interface. */
static int is_fresh_tcp(int fd)
{
    int value = 0;
    socklen_t length = sizeof value;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &length) != 0 || value != SOCK_STREAM)
        return 0;
    length = sizeof value;
    if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &length) != 0)
        return 0;
    if (value != IPPROTO_TCP && value != IPPROTO_MPTCP)
        return 0;
    uint8_t state = 0; /* the first byte of struct tcp_info */
    length = sizeof state;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &state, &length) == 0 && length == sizeof state && state != STATE_CLOSE)
        return 0;
    char device[32];
    length = sizeof device;
    if (getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, &length) == 0 && length > 1)
        return 0;
    return 1;
}

/* Reads or writes all of it; whether that went well, else errno says why not (0 at the stream's end). */
static int read_all(int fd, void *buffer, size_t length)
{
    for (size_t got = 0; got < length;) {
        ssize_t n = recv(fd, (char *)buffer + got, length - got, 0);
        if (n == 0)
            errno = 0;
        if (n <= 0)
            return 0;
        got += (size_t)n;
    }
    return 1;
}

static int write_all(int fd, const void *buffer, size_t length)
{
    for (size_t sent = 0; sent < length;) {
        ssize_t n = send(fd, (const char *)buffer + sent, length - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return 0;
        sent += n > 0 ? (size_t)n : 0;
    }
    return 1;
}

/* Calls at the gateway's socket. */
static int call_gateway(void)
{
    const char *path = getenv("TRUNKLINE_JET_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || strlen(path) >= sizeof address.sun_path)
        return fail(ENETDOWN);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (door < 0)
        return -1;
    struct timeval patience = {.tv_sec = VERDICT_PATIENCE};
    setsockopt(door, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(door, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    int result;
    do
        result = connect_directly(door, (const void *)&address, sizeof address);
    while (result != 0 && errno == EINTR);
    if (result != 0) {
        close(door);
        return fail(ENETDOWN);
    }
    return door;
}

/* Whether an address is in a network: its address, and its length in bits. */
static int is_in(const uint8_t address[16], const uint8_t network[17])
{
    unsigned bits = network[16], whole = bits / 8, rest = bits % 8;
    if (bits > 128 || memcmp(address, network, whole) != 0)
        return 0;
    return rest == 0 || (address[whole] ^ network[whole]) >> (8 - rest) == 0;
}

/* Reads where to connect, without asking anybody: 1 with the door's port, 0 for directly, -1 if it is not written. */
static int look_up(const struct destination *to, uint8_t port[2])
{
    const char *socket = getenv("TRUNKLINE_JET_SOCKET");
    char path[sizeof((struct sockaddr_un *)0)->sun_path + sizeof DOORS];
    uint8_t doors[4096];
    size_t length = socket ? strlen(socket) : sizeof path;
    if (length > sizeof path - sizeof DOORS)
        return -1;
    memcpy(path, socket, length);
    memcpy(path + length, DOORS, sizeof DOORS);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t count = read(file, doors, sizeof doors);
    close(file);
    static const uint8_t MAGIC[4] = {'T', 'J', 1, 0};
    if (count < 8 || count == sizeof doors || (count - 8) % 17 != 0 || memcmp(doors, MAGIC, sizeof MAGIC) != 0)
        return -1;
    for (ssize_t at = 8; at < count; at += 17)
        if (is_in(to->address, doors + at))
            return 0;
    memcpy(port, doors + (memcmp(to->address, MAPPED, 12) == 0 ? 4 : 6), 2);
    return port[0] != 0 || port[1] != 0;
}

/* Says where to without asking: the door need not have answered when the program goes on. */
static int announce(int door, const struct destination *to)
{
    uint8_t message[22] = {'T', 'J', 1, 1};
    memcpy(message + 4, to->port, 2);
    memcpy(message + 6, to->address, 16);
    return write_all(door, message, sizeof message) ? 0 : fail(ENETDOWN);
}

/* Asks where to connect: 1 with the door's port, 0 for directly, -1 with errno if nobody says. */
static int ask(int door, const struct destination *to, uint8_t port[2])
{
    uint8_t request[22] = {'T', 'J', 1, 0};
    memcpy(request + 4, to->port, 2);
    memcpy(request + 6, to->address, 16);
    if (!write_all(door, request, sizeof request))
        return fail(ENETDOWN);
    while (!read_all(door, port, 2))
        if (errno != EINTR) /* both bytes come together, so none is lost here */
            return fail(ENETDOWN);
    return port[0] != 0 || port[1] != 0;
}

/* Connects to the door with an address of the family that the program has used. */
static int connect_to_door(int fd, sa_family_t family, const struct destination *to, const uint8_t port[2])
{
    if (family == AF_INET) {
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        memcpy(&v4.sin_port, port, 2);
        return connect_directly(fd, (const void *)&v4, sizeof v4);
    }
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    memcpy(&v6.sin6_port, port, 2);
    if (memcmp(to->address, MAPPED, 12) == 0) {
        static const uint8_t LOOPBACK[4] = {127, 0, 0, 1};
        memcpy(v6.sin6_addr.s6_addr, MAPPED, 12);
        memcpy(v6.sin6_addr.s6_addr + 12, LOOPBACK, 4);
    } else {
        v6.sin6_addr.s6_addr[15] = 1;
    }
    return connect_directly(fd, (const void *)&v6, sizeof v6);
}

/* Says which connection at the door it has become. */
static int claim(int door, int fd, int waits)
{
    union {
        struct sockaddr any;
        struct sockaddr_in6 v6;
    } own;
    socklen_t length = sizeof own;
    struct destination from;
    uint8_t message[20] = {(uint8_t)waits};
    if (getsockname(fd, &own.any, &length) != 0 || !read_destination(&own.any, length, &from))
        return 0;
    memcpy(message + 2, from.port, 2);
    memcpy(message + 4, from.address, 16);
    return write_all(door, message, sizeof message);
}

/* Waits for the outcome of a blocking connect, as long as the program would have waited: 0 or an errno. */
static int await_outcome(int door, int fd)
{
    struct timeval patience = {0};
    socklen_t length = sizeof patience;
    getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, &length);
    setsockopt(door, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    uint8_t outcome[4];
    if (!read_all(door, outcome, sizeof outcome))
        /* connect(2) says EINPROGRESS when SO_SNDTIMEO ends it. */
        return errno == EAGAIN ? EINPROGRESS : errno == EINTR ? EINTR : ENETDOWN;
    return outcome[2] << 8 | outcome[3];
}

/* Back to a socket that can be connected, as after a failure. */
static void disconnect(int fd)
{
    struct sockaddr nothing = {.sa_family = AF_UNSPEC};
    connect_directly(fd, &nothing, sizeof nothing);
}

/* The redirected connect: errno is set as connect(2) would, or as the kernel did. */
static int connect_redirected(int fd, const struct sockaddr *to, socklen_t length, const struct destination *destination)
{
    uint8_t port[2];
    int flags = fcntl(fd, F_GETFL);
    int patient = flags >= 0 && !(flags & O_NONBLOCK);
    int door = call_gateway();
    if (door < 0)
        return -1;
    /* Who cannot wait for the connection does not wait for the gateway either: it may be busy, or stopped. */
    int asked = patient ? -1 : look_up(destination, port);
    if (asked < 0)
        asked = ask(door, destination, port);
    else if (asked > 0 && announce(door, destination) != 0)
        asked = -1;
    if (asked <= 0) {
        int error = errno;
        close(door);
        errno = error;
        return asked < 0 ? -1 : connect_directly(fd, to, length);
    }
    /* A first packet that waits for the first write would leave the door waiting too. */
    int off = 0;
    setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &off, sizeof off);
    int result = connect_to_door(fd, to->sa_family, destination, port);
    int error = result == 0 ? 0 : errno;
    if (error == 0 || error == EINPROGRESS || error == EINTR) {
        int waits = error == 0 && patient;
        if (!claim(door, fd, waits)) {
            error = ENETDOWN;
            disconnect(fd);
        } else if (waits) {
            error = await_outcome(door, fd);
            if (error != 0 && error != EINPROGRESS && error != EINTR)
                disconnect(fd);
        }
    } else if (error == ECONNREFUSED) {
        error = ENETDOWN; /* it is the door that refused: the gateway has gone, or is in another network namespace */
    }
    close(door);
    return error == 0 ? 0 : fail(error);
}

__attribute__((visibility("default"))) int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    struct destination destination;
    int before = errno;
    if (!read_destination(to, length, &destination) || is_near(&destination) || !is_fresh_tcp(fd)) {
        errno = before;
        return connect_directly(fd, to, length);
    }
    int result = connect_redirected(fd, to, length, &destination);
    if (result == 0)
        errno = before;
    return result;
}

__attribute__((visibility("default"))) int socket(int family, int type, int protocol)
{
    if (!next_socket)
        find_next();
    int is_tcp = (family == AF_INET || family == AF_INET6) && (type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_STREAM;
    if (is_tcp && getenv("TRUNKLINE_JET_STRICT"))
        return (int)syscall(SYS_socket, family, type, protocol, KEY);
    return next_socket(family, type, protocol);
}
