/* Addresses: every kind, and each way to get one wrong with its remedy. */
#include "base/test.h"
#include "lunette_program.h"

static void good(const char *text, int use, int kind, const char *host, int port, int listens) {
    lunette_address a;
    if (!CHECK_INT(lunette_address_parse(&a, text, use), 0)) fprintf(stderr, "  %s: %s\n", text, a.problem);
    CHECK_INT(a.kind, kind);
    CHECK_TEXT(a.host, host);
    CHECK_INT(a.port, port);
    CHECK_INT(a.listen, listens);
    CHECK_TEXT(a.problem, "");
}

static void bad(const char *text, int use, const char *problem) {
    lunette_address a;
    CHECK_INT(lunette_address_parse(&a, text, use), -1);
    if (!CHECK(strstr(a.problem, problem) != NULL)) fprintf(stderr, "  %s: %s\n", text, a.problem);
}

static void kinds(void) {
    good("-", LUNETTE_USE_SOURCE, LUNETTE_ADDRESS_STANDARD, "", 0, 0);
    good("null:", LUNETTE_USE_SINK, LUNETTE_ADDRESS_NULL, "", 0, 0);
    good("a/b.jsonl", LUNETTE_USE_SOURCE, LUNETTE_ADDRESS_PATH, "", 0, 0);
    good("./tcp://x", LUNETTE_USE_SOURCE, LUNETTE_ADDRESS_PATH, "", 0, 0);
    good("12:30:00.log", LUNETTE_USE_SOURCE, LUNETTE_ADDRESS_PATH, "", 0, 0);
    good("unix:run/in.sock", LUNETTE_USE_SOURCE, LUNETTE_ADDRESS_UNIX, "run/in.sock", 0, 0);
    good("unix:/run/out.sock?listen", LUNETTE_USE_SINK, LUNETTE_ADDRESS_UNIX, "/run/out.sock", 0, 1);
    good("tcp://127.0.0.1:0", LUNETTE_USE_SOURCE, LUNETTE_ADDRESS_TCP, "127.0.0.1", 0, 0);
    good("tcp://localhost:65535", LUNETTE_USE_SINK, LUNETTE_ADDRESS_TCP, "localhost", 65535, 0);
    good("tcp://[::1]:7000?listen", LUNETTE_USE_SINK, LUNETTE_ADDRESS_TCP, "::1", 7000, 1);
    good("tcp://127.0.0.1:0?listen", LUNETTE_USE_SINK, LUNETTE_ADDRESS_TCP, "127.0.0.1", 0, 1);
    good("forward://[::1]:24224", LUNETTE_USE_SOURCE, LUNETTE_ADDRESS_FORWARD, "::1", 24224, 0);
    good("udp://[fe80::1]:9", LUNETTE_USE_SOURCE, LUNETTE_ADDRESS_UDP, "fe80::1", 9, 0);
}

static void words_of_a_forward_sink(void) {
    lunette_address a;
    CHECK_INT(lunette_address_parse(&a, "forward://a:1?tag=panes.x&gzip", LUNETTE_USE_SINK), 0);
    CHECK_TEXT(a.tag, "panes.x");
    CHECK_INT(a.gzip, 1);
    CHECK_INT(a.port, 1);
    CHECK_INT(lunette_address_parse(&a, "forward://a:1", LUNETTE_USE_SINK), 0);
    CHECK_TEXT(a.tag, "");
    CHECK_INT(a.gzip, 0);
    CHECK_INT(lunette_address_parse(&a, "forward://a:1?gzip&time=value.at&unit=ns&tag=x", LUNETTE_USE_SINK), 0);
    CHECK_INT(a.gzip, 1);
    CHECK_TEXT(a.time, "value.at");
    CHECK_INT(a.unit, LN_UNIT_NS);
    bad("forward://a:1?time=", LUNETTE_USE_SINK, "write ?time=end");
    bad("forward://a:1?unit=m", LUNETTE_USE_SINK, "the units are s, ms, us and ns");
    bad("forward://a:1?tag=....", LUNETTE_USE_SINK, "a tag of dots alone is none");
    bad("forward://a:1?tag=", LUNETTE_USE_SINK, "a tag has 1 to 127 characters");
    bad("forward://a:1?tag=a b", LUNETTE_USE_SINK, "printable ASCII");
    bad("forward://a:1?tag=../x", LUNETTE_USE_SINK, "without spaces and slashes");
    bad("forward://a:1?zip", LUNETTE_USE_SINK, "?zip is unknown: the words after ? are tag=TAG, time=FIELD");
    bad("forward://a:1?listen", LUNETTE_USE_SINK, "?listen is unknown");
    bad("forward://a:1?tag=x", LUNETTE_USE_SOURCE, "nothing stands behind the port of a forward:// source");
    bad("forward:a:1", LUNETTE_USE_SOURCE, "the // is missing: write forward://HOST:PORT");
    bad("forward://a:0", LUNETTE_USE_SINK, "nobody listens on port 0");
}

static void mistakes(void) {
    char longest[300] = "unix:";
    memset(longest + 5, 'x', 200);
    bad("", LUNETTE_USE_SOURCE, "is empty: write a path");
    bad("tcp:localhost:1", LUNETTE_USE_SOURCE, "the // is missing: write tcp://HOST:PORT");
    bad("tcp://localhost", LUNETTE_USE_SOURCE, "the port is missing: write tcp://localhost:PORT");
    bad("tcp://:7000", LUNETTE_USE_SOURCE, "the host is missing: write tcp://127.0.0.1:PORT");
    bad("tcp://localhost:", LUNETTE_USE_SOURCE, "the port is no number");
    bad("tcp://localhost:70000", LUNETTE_USE_SOURCE, "the port is no number from 0 to 65535");
    bad("tcp://localhost:7x", LUNETTE_USE_SOURCE, "the port is no number");
    bad("tcp://::1:7000", LUNETTE_USE_SOURCE, "stands in brackets");
    bad("tcp://[::1:7000", LUNETTE_USE_SOURCE, "the ] after the host is missing");
    bad("tcp://[::1]", LUNETTE_USE_SOURCE, "the port is missing: write tcp://[::1]:PORT");
    bad("tcp://[::1]7000", LUNETTE_USE_SOURCE, "the port is missing");
    bad("tcp://a:1?listen", LUNETTE_USE_SOURCE, "a source always listens");
    bad("tcp://a:1?lisen", LUNETTE_USE_SINK, "?lisen is unknown");
    bad("tcp://a:0", LUNETTE_USE_SINK, "nobody listens on port 0");
    bad("udp://a:1", LUNETTE_USE_SINK, "not sent in datagrams");
    bad("unix:", LUNETTE_USE_SOURCE, "the path is missing");
    bad("unix:///run/x", LUNETTE_USE_SOURCE, "without //");
    bad(longest, LUNETTE_USE_SOURCE, "at most 107 bytes, this one has 200");
    bad("http://a:1", LUNETTE_USE_SOURCE, "http: is unknown");
    bad("null:x", LUNETTE_USE_SOURCE, "null: is unknown");
}

static const test_case cases[] = {
    {"kinds", kinds},
    {"words of a forward sink", words_of_a_forward_sink},
    {"mistakes", mistakes},
};
TEST_MAIN(cases)
