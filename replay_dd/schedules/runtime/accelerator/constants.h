/* Numbers that C and Python have in common. ../constants.py has the same, and says what they are; a test compares them. */
#ifndef REPLAY_DD_CONSTANTS_H
#define REPLAY_DD_CONSTANTS_H

#define DIGEST_PRIME 0x100000001B3ULL
#define SPLITMIX_STEP 0x9E3779B97F4A7C15ULL
#define SPLITMIX_FIRST 0xBF58476D1CE4E5B9ULL
#define SPLITMIX_SECOND 0x94D049BB133111EBULL
#define LOOKED_THROUGH -1
#define LIBRARY_FILES 1
#define BUSY_PERCENT 2
#define STILL_LOOKS 2
#define EARLIEST_LOOK_NS_PER_S 900000000
#define ROOM_FRAMES 17
#define LIBRARY_SPIN_LIMIT 10007
#define NOTED_VISITS 3
#define BY_THREAD 1
#define BY_PLACE 2
#define AT_PLACES 3

#endif
