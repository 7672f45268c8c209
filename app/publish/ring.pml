/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring's protocol as a Promela model, which spin checks exhaustively (CTest system/ring_proof):
 * an engine that writes frames and may be killed at any step, the supervisor that reaps it, forks the next and stores its state,
 * and two readers. Each step names the C function that it mirrors; docs/shared-memory.md is the guide.
 *
 * Memory is that of C11 without load buffering, by views (Kang et al., "A Promising Semantics for Relaxed-Memory
 * Concurrency", POPL 2017, without promises): a location keeps all messages ever stored to it; a load takes ANY of them that
 * its thread does not know to be outdated. What a thread knows is a vector clock: a number of stores of the engine, and one of the
 * supervisor. A message carries the clock that a load of it releases: at a release store the writer's own, at a relaxed store
 * the writer's at its last release fence. An acquire load takes it over at once, a relaxed one keeps it for the next
 * acquire fence. So every store may become visible late and out of order, every load may be stale, unless an ordering forbids.
 *
 * Small numbers are enough: two slots, since a slot knows only its own frame and the one that overwrites it; a frame of WORDS
 * words, each written and read by itself. That a reader dies at any step, or that all ends at any step, needs no step of its
 * own: nothing waits for a reader, and what is asserted is asserted at every step of every prefix.
 *
 * Each ordering is a macro, so that its mutant is a -D (docs/shared-memory.md has the table).
 */
#define RELAXED 0
#define ACQUIRE 1
#define RELEASE 2

#ifndef LOCK_FENCE
#define LOCK_FENCE RELEASE /* plx_ring_begin */
#endif
#ifndef NEWEST_STORE
#define NEWEST_STORE RELEASE /* plx_ring_commit */
#endif
#ifndef WAKE_ADD
#define WAKE_ADD RELEASE /* wake_readers */
#endif
#ifndef STATUS_STORE
#define STATUS_STORE RELEASE /* plx_shm_set_state */
#endif
#ifndef NEWEST_LOAD
#define NEWEST_LOAD ACQUIRE /* plx_map_find_newest */
#endif
#ifndef WHOLE_FENCE
#define WHOLE_FENCE ACQUIRE /* plx_map_whole */
#endif
#ifndef WAKE_LOAD
#define WAKE_LOAD ACQUIRE /* wait_frame */
#endif
#ifndef STATUS_LOAD
#define STATUS_LOAD ACQUIRE /* status_of */
#endif

#ifndef FRAMES
#define FRAMES 3 /* published before the engine ends */
#endif
#ifndef DEATHS
#define DEATHS 1 /* of the engine */
#endif
#ifndef FAULTS
#define FAULTS 1 /* that change the state while the engine runs */
#endif
#ifndef LOOKS
#define LOOKS 2 /* of each reader */
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef WORDS
#define WORDS 1
#endif
#define SLOTS 2

/* --- memory ------------------------------------------------------------------------------------------------------- */

#define NEWEST 0
#define WAKE 1
#define STATUS 2
#define LOCK(s) (3 + (s) % SLOTS)
#define WORD(s, i) (3 + SLOTS + ((s) % SLOTS) * WORDS + (i))
#define PLACES (3 + SLOTS + SLOTS * WORDS)
#define MESSAGES 10 /* of a place, as OLDEST has it; asserted to be enough */

#define ENGINE 0
#define SUPERVISOR 1

typedef clock {
    byte knows[2] /* stores of the engine, of the supervisor */
};

typedef message {
    byte value;
    bit by;         /* who stored it */
    byte at;        /* its number among the stores of that one, from 1 */
    byte release[2] /* the clock that a load of it releases */
};

typedef place {
    byte count;
    message m[MESSAGES] /* in modification order; the first is there from the start */
};

place mem[PLACES];
clock now[2];    /* what engine and supervisor know */
clock fenced[2]; /* what they knew at their last release fence */
clock futex;     /* what the wakers knew: the kernel's lock passes it on to a reader that goes to sleep */

#define LAST(l) mem[l].m[mem[l].count - 1]
#define FREE(l) mem[l].m[mem[l].count]
#define JOIN(a, b) \
    a[0] = (a[0] > b[0] -> a[0] : b[0]); \
    a[1] = (a[1] > b[1] -> a[1] : b[1])

inline put(me, l, new, order, is_rmw)
{
    d_step {
        assert(mem[l].count < MESSAGES);
        now[me].knows[me]++;
        FREE(l).value = new;
        FREE(l).by = me;
        FREE(l).at = now[me].knows[me];
        if
        :: order == RELEASE -> JOIN(FREE(l).release, now[me].knows)
        :: else -> JOIN(FREE(l).release, fenced[me].knows)
        fi;
        if
        :: is_rmw -> JOIN(FREE(l).release, LAST(l).release) /* continues the release sequence of the message that it reads */
        :: else
        fi;
        mem[l].count++
    }
}

#define store(me, l, new, order) put(me, l, new, order, false)
#define exchange(me, l, new, order) put(me, l, new, order, true)
#define fetch_add(me, l, order) put(me, l, LAST(l).value + 1, order, true)

inline fence_release(me, order)
{
    d_step {
        if
        :: order == RELEASE -> JOIN(fenced[me].knows, now[me].knows)
        :: else
        fi
    }
}

/* The oldest message of L that a reader with clock C may still load: the newest one that it knows or has seen. */
#define KNOWN(l, i, c) (i < mem[l].count && (seen[l] >= i || mem[l].m[i].at <= c.knows[mem[l].m[i].by]))
#define OLDEST(l, c) \
    (KNOWN(l, 9, c) -> 9 : (KNOWN(l, 8, c) -> 8 : (KNOWN(l, 7, c) -> 7 : (KNOWN(l, 6, c) -> 6 : (KNOWN(l, 5, c) -> 5 : (KNOWN(l, 4, c) -> 4 : \
    (KNOWN(l, 3, c) -> 3 : (KNOWN(l, 2, c) -> 2 : (KNOWN(l, 1, c) -> 1 : 0)))))))))

/* k = any message from OLDEST on. To be used in an atomic. */
inline any_from_oldest(l, c)
{
    k = OLDEST(l, c);
    do
    :: k < mem[l].count - 1 -> k++
    :: break
    od;
    skip /* spin: no break may end at a d_step */
}

/* To be used in an atomic. */
inline load(l, order, ret_value)
{
    any_from_oldest(l, know);
    d_step {
        ret_value = mem[l].m[k].value;
        seen[l] = k; /* coherence: no later load gets an older message */
        JOIN(pending.knows, mem[l].m[k].release);
        if
        :: order == ACQUIRE -> JOIN(know.knows, mem[l].m[k].release)
        :: else
        fi;
        k = 0
    }
}

inline fence_acquire(order)
{
    d_step {
        if
        :: order == ACQUIRE -> JOIN(know.knows, pending.knows)
        :: else
        fi
    }
}

/* --- variables of the assertions only ------------------------------------------------------------------------------- */

bool owed[2];             /* something was published, and its FUTEX_WAKE is still to come */
byte newest_of_state[8];  /* the value of newest when the supervisor reaped an engine and stored that state */
#ifndef REACHED
#define REACHED 0
#endif
#define REACH(what) assert(REACHED != what) /* -DREACHED=n must fail, which shows that the model reaches REACH(n) */

/* --- the service: app/publish/shm.c ------------------------------------------------------------------------------- */

bool engine_dead;
byte deaths;

/* The engine is killed instead of its next step. */
#define OR_DIE \
    :: atomic { deaths < DEATHS -> deaths++; s = 0; i = 0; engine_dead = true }; \
       goto dead

/* wake_readers: syscall(SYS_futex, FUTEX_WAKE). It wakes some readers, which wake others; the rest wake up after their slice. */
inline futex_wake(me)
{
    d_step {
        JOIN(futex.knows, now[me].knows);
        owed[me] = false
    }
}

proctype engine()
{
    byte s, i;
begin:
    if /* plx_ring_begin; next_sequence is relaxed, but loads a store of this engine, or of one that was reaped before the fork */
    :: atomic {
        LAST(NEWEST).value < FRAMES -> s = LAST(NEWEST).value + 1;
        store(ENGINE, LOCK(s), 2 * s - 1, RELAXED);
        fence_release(ENGINE, LOCK_FENCE) /* whether it dies before or after the fence makes no difference to others */
       }
    :: LAST(NEWEST).value == FRAMES -> goto end
    OR_DIE
    fi;
    do /* the stages */
    :: atomic { i < WORDS -> store(ENGINE, WORD(s, i), s, RELAXED); i++ }
    :: atomic { i == WORDS -> i = 0; store(ENGINE, LOCK(s), 2 * s, RELAXED) } /* plx_ring_commit, from here */
       break
    OR_DIE
    od;
    if :: atomic { owed[ENGINE] = true; store(ENGINE, NEWEST, s, NEWEST_STORE); s = 0 } OR_DIE fi;
    if :: fetch_add(ENGINE, WAKE, WAKE_ADD) OR_DIE fi;
    if :: futex_wake(ENGINE) OR_DIE fi;
    goto begin;
dead:
    !engine_dead;
    goto begin;
end:
}

/* plx_shm_set_state, up to its wake_readers. */
inline say_next_state()
{
    state++;
    exchange(SUPERVISOR, STATUS, state, STATUS_STORE);
    owed[SUPERVISOR] = true
}

/* app/supervisor/supervisor.c: finds a fault while the engine runs; reaps an engine, stores the state, forks the next. */
proctype supervisor()
{
    byte state, faults;
end:
    do
    :: atomic {
        faults < FAULTS -> faults++;
        say_next_state()
       }
       fetch_add(SUPERVISOR, WAKE, WAKE_ADD);
       futex_wake(SUPERVISOR)
    :: atomic {
        engine_dead ->
        JOIN(now[SUPERVISOR].knows, now[ENGINE].knows); /* waitpid */
        owed[ENGINE] = false;
        newest_of_state[state + 1] = LAST(NEWEST).value;
        say_next_state()
       }
       fetch_add(SUPERVISOR, WAKE, WAKE_ADD);
       atomic {
        futex_wake(SUPERVISOR);
        JOIN(now[ENGINE].knows, now[SUPERVISOR].knows); /* fork; the new engine has made no release fence yet */
        fenced[ENGINE].knows[0] = 0; fenced[ENGINE].knows[1] = 0;
        engine_dead = false
       }
    od
}

/* --- a reader: client/next.c, client/map.c -------------------------------------------------------------------------- */

proctype reader()
{
    clock know, pending; /* pending: known by relaxed loads, joined to know at the next acquire fence */
    clock in_kernel;
    byte seen[PLACES];
    byte k, i, looks, last;
    byte word, s, lock, status, datum;
    bool torn;

end_of_look:
    atomic {
        looks < LOOKS -> looks++;
        load(WAKE, WAKE_LOAD, word) /* wait_frame */
    }
    atomic {
        load(NEWEST, NEWEST_LOAD, s); /* plx_map_find_newest, from here */
        assert(s >= last);
        if
        :: s == last -> goto nothing_new
        :: else -> word = 0
        fi
    }
    atomic {
        load(LOCK(s), RELAXED, lock);
        /* else a look would fail without an overwritten slot, and the library returns FORMAT after ATTEMPTS such looks */
        assert(lock >= 2 * s);
        if
        :: lock != 2 * s -> REACH(1); goto forget
        :: else
        fi
    }
    do
    :: atomic { i < WORDS -> load(WORD(s, i), RELAXED, datum); torn = torn || datum != s; i++ }
    :: atomic { i == WORDS -> fence_acquire(WHOLE_FENCE); load(LOCK(s), RELAXED, lock) } /* plx_map_whole */
       break
    od;
    atomic {
        if
        :: lock == 2 * s -> REACH(2); assert(!torn) /* plx_release returns 0 */
        :: else -> REACH(3)                         /* OVERWRITTEN */
        fi;
        last = s
    }
forget: /* fewer states: forgetting only allows more behaviours, as the frame's places are loaded again only in another look */
    atomic {
        k = LOCK(0);
        do
        :: k < PLACES -> seen[k] = 0; k++
        :: else -> break
        od;
        k = 0; torn = false; i = 0; lock = 0; datum = 0; s = 0
    }
    goto end_of_look;

nothing_new:
    atomic {
        load(STATUS, STATUS_LOAD, status); /* status_of */
        /* a reader that learns of an engine's death gets all frames that the engine published */
        assert(mem[NEWEST].m[OLDEST(NEWEST, know)].value >= newest_of_state[status])
    }
    atomic { /* sleep_on: FUTEX_WAIT compares and goes to sleep under the kernel's lock */
        d_step {
            in_kernel.knows[0] = know.knows[0]; in_kernel.knows[1] = know.knows[1];
            JOIN(in_kernel.knows, futex.knows)
        }
        any_from_oldest(WAKE, in_kernel);
        d_step {
            if
            :: mem[WAKE].m[k].value == word ->
                REACH(4);
                /* no reader sleeps while there is news, unless its wake-up is still to come */
                assert(owed[ENGINE] || owed[SUPERVISOR] || (s == LAST(NEWEST).value && status == LAST(STATUS).value))
            :: else
            fi;
            k = 0; word = 0; s = 0; status = 0;
            in_kernel.knows[0] = 0; in_kernel.knows[1] = 0
        }
    }
    goto end_of_look /* a sleep may end at any time: by a wake-up, or with its slice */
}

/* --- all together --------------------------------------------------------------------------------------------------- */

init {
    byte i;
    atomic {
        do
        :: i < PLACES -> mem[i].count = 1; i++ /* plx_shm_create, before anybody else sees it */
        :: else -> break
        od;
        i = 0;
        do
        :: i < SLOTS -> mem[LOCK(i)].m[0].value = 1; i++
        :: else -> break
        od;
        i = 0;
        run engine();
        run supervisor();
        do
        :: i < READERS -> run reader(); i++
        :: else -> break
        od;
        i = 0
    }
}
