/* Messages as a client of others sent them (the npm package @fluent-org/logger, version 1.0.10), one of each mode: tag
 * app.x; {a: 1} at the event time 1700000000 s and 5 ns and, but for the first, {a: 2} at 1802362771. */
#ifndef LN_FORWARD_TEST_GOLDEN_H
#define LN_FORWARD_TEST_GOLDEN_H

#define GOLDEN_CHUNK "AAECAwQFBgcICQoLDA0ODw=="
#define GOLDEN_MESSAGE                   \
    "\x94\xa5"                           \
    "app.x\xd7\x00"                      \
    "eS\xf1\x00\x00\x00\x00\x05\x81\xa1" \
    "a\x01\x80"
#define GOLDEN_FORWARD                   \
    "\x93\xa5"                           \
    "app.x\x92\x92\xd7\x00"              \
    "eS\xf1\x00\x00\x00\x00\x05\x81\xa1" \
    "a\x01\x92\xcekm\xdf\x93\x81\xa1"    \
    "a\x02\x81\xa4size\x02"
#define GOLDEN_PACKED                    \
    "\x93\xa5"                           \
    "app.x\xc4\x19\x92\xd7\x00"          \
    "eS\xf1\x00\x00\x00\x00\x05\x81\xa1" \
    "a\x01\x92\xcekm\xdf\x93\x81\xa1"    \
    "a\x02\x82\xa4size\x02\xa5"          \
    "chunk\xb8"                          \
    "AAECAwQFBgcICQoLDA0ODw=="
#define GOLDEN_GZIP                                                                               \
    "\x93\xa5"                                                                                    \
    "app.x\xc4.\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x9bt\x9d!5\xf8#\x03\x03\x03\x03k\xe3\xc2" \
    "D\xc6I\xe7\xb2s\xefOn\x5c\x98\xc8\x04\x00\x12\x05W\x8c\x19\x00\x00\x00\x83\xa4size\x02\xa5"  \
    "chunk\xb8"                                                                                   \
    "AAECAwQFBgcICQoLDA0ODw==\xaa"                                                                \
    "compressed\xa4gzip"

#endif
