/* Which visits of places are notable: the first ones, and then each that doubles their number; or those of given places.
 *
 * Rules of this file:
 *
 * - The table is mapped, not taken from a heap: where the program's own blocks stand must not depend on it.
 * - Without memory for it, no visit is notable: a profile with gaps is better than a run that ends.
 */
#include "_accelerator.h"
#include <sys/mman.h>

#define FIRST_ENTRIES ((size_t)512) /* a power of two; two pages, as a forked copy pays for each */

static size_t place_of(const VisitEntry *entries, size_t amount, uint64_t key)
{
    size_t place = (size_t)((key * SPLITMIX_STEP) >> 32) & (amount - 1);
    while (entries[place].visits != 0 && entries[place].key != key) {
        place = (place + 1) & (amount - 1);
    }
    return place;
}

static int grow(Visits *visits)
{
    size_t amount = visits->entries == NULL ? FIRST_ENTRIES : 2 * visits->amount, bytes = amount * sizeof(VisitEntry);
    VisitEntry *entries = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (entries == MAP_FAILED) {
        return -1;
    }
    for (size_t place = 0; place < visits->amount; place++) {
        if (visits->entries[place].visits != 0) {
            entries[place_of(entries, amount, visits->entries[place].key)] = visits->entries[place];
        }
    }
    visits_clear(visits);
    visits->entries = entries;
    visits->amount = amount;
    return 0;
}

int visits_count(Visits *visits, uint64_t key)
{
    if (2 * visits->used >= visits->amount && grow(visits) < 0) {
        return 0;
    }
    VisitEntry *entry = &visits->entries[place_of(visits->entries, visits->amount, key)];
    if (entry->visits == 0) {
        entry->key = key;
        visits->used++;
    }
    uint64_t number = ++entry->visits;
    return number <= NOTED_VISITS || (number & (number - 1)) == 0;
}

int visits_know(const Visits *visits, uint64_t key)
{ return visits->entries != NULL && visits->entries[place_of(visits->entries, visits->amount, key)].visits != 0; }

void visits_clear(Visits *visits)
{
    if (visits->entries != NULL) {
        munmap(visits->entries, visits->amount * sizeof(VisitEntry));
    }
    visits->entries = NULL;
    visits->amount = 0;
}
