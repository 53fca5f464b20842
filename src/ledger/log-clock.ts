import { uptime } from 'node:os';
import { durationText } from '../duration.ts';
import { limits } from '../limits.ts';
import { type Clock, milliseconds } from './heads.ts';

/** Monotonic clocks, in milliseconds since an arbitrary moment. */
export interface SteadyClock {
  /** Stops while the machine is suspended (CLOCK_MONOTONIC). */
  runningMs(): number;
  /** Continues while the machine is suspended (CLOCK_BOOTTIME); undefined if the system has no such clock. */
  bootMs(): number | undefined;
}

/** `os.uptime` counts suspended time on Linux and Windows. Elsewhere it follows the wall clock and cannot be used. */
export const systemSteadyClock: SteadyClock = {
  runningMs: () => performance.now(),
  bootMs: () => (process.platform === 'linux' || process.platform === 'win32' ? uptime() * 1000 : undefined),
};

/** Clock state that survives the process. Unix times in nanoseconds. */
export interface ClockMemory {
  /**
   * The readings when the wall clock was refused: the wall clock showed `clock`, and the latest plausible time was
   * `plausible`. Absent unless the wall clock is refused.
   */
  readonly refused?: { readonly plausible: bigint; readonly clock: bigint };
  /**
   * The latest time to accept, plus a margin, after an operator confirmed the clock although the log has later times.
   */
  readonly acceptedUntil?: bigint;
}

/** Result of a check: why the time is refused, and the finding for the operator. */
export interface ClockState {
  readonly fault?: string;
  readonly finding?: string;
}

/**
 * Readings of both clocks taken together, and the maximum by which the wall clock may be ahead of the expected time.
 */
interface Trusted {
  readonly wall: bigint;
  readonly runningMs: number;
  readonly bootMs: number | undefined;
  readonly maxAhead: bigint;
  /**
   * `start`: the wall time is that of the last head or the last process, and an unknown time has passed
   * since.
   */
  readonly from: 'start' | 'clock';
}

const nsPerMs = 1_000_000n;
const stepNs = BigInt(limits.maxClockStepMs) * nsPerMs;
const jumpNs = BigInt(limits.maxClockJumpMs) * nsPerMs;
const gapNs = BigInt(limits.maxClockGapMs) * nsPerMs;

/**
 * The time source of the log: the wall clock while it is plausible.
 *
 *     wall clock vs. steady clock         within a minute     followed (slewing, small steps)
 *                                         up to an hour       followed, and reported for a day
 *                                         further ahead       refused: heads are dated by the steady clock
 *     last head ahead of the wall clock   up to an hour       reported; heads are dated one step after the last
 *                                         more                refused, until the clock reaches it or is confirmed
 *
 * After a start the steady clock has no history, so the time of the last head is used instead. The wall clock may be
 * ahead of the last head by the longest plausible downtime (`limits.maxClockGapMs`). Owns the trusted pair of readings.
 */
export class LogClock {
  readonly #wall: Clock;
  readonly #steady: SteadyClock;
  #trusted: Trusted | undefined;
  #memory: ClockMemory = {};
  /** The latest time in the journal. It only causes a finding, because journal times are not signed. */
  #journalAt: bigint | undefined;
  #jump: { readonly message: string; readonly atMs: number } | undefined;

  constructor(wall: Clock, steady: SteadyClock) {
    this.#wall = wall;
    this.#steady = steady;
  }

  /** Returns the Unix time in nanoseconds, limited to the plausible range. It may go backward. */
  now(): bigint {
    const wall = this.#wall();
    const trusted = this.#trusted;
    if (trusted === undefined) return wall;
    const expected = this.#expected(trusted, wall);
    return wall - expected > trusted.maxAhead ? expected : wall;
  }

  /**
   * Returns the time for intervals, in milliseconds since an arbitrary moment. The time never goes backward, and it
   * stops while the machine is suspended.
   */
  runningMs(): number {
    return this.#steady.runningMs();
  }

  get memory(): ClockMemory {
    return this.#memory;
  }

  /**
   * Initialises the clock from the last signed head, the journal, and the state that the last process stored.
   */
  start(lastHead: bigint | undefined, journalAt: Date | undefined, memory: ClockMemory): void {
    this.#journalAt = journalAt && BigInt(journalAt.getTime()) * nsPerMs;
    const { refused, acceptedUntil = 0n } = memory;
    this.#memory = memory;
    if (refused !== undefined) {
      // Accepts the wall clock only if it shows an earlier time than the refused time, which means that the clock was
      // corrected. Until then, heads are dated by the steady clock.
      const from = lastHead !== undefined && lastHead > refused.plausible ? lastHead : refused.plausible;
      const ahead = refused.clock - refused.plausible - stepNs;
      this.#trust(from, 'start', ahead > stepNs ? ahead : stepNs);
    } else if (lastHead === undefined || lastHead <= acceptedUntil) this.#trust(this.#wall(), 'start');
    else this.#trust(lastHead, 'start', gapNs);
  }

  /** Compares the clocks, and follows the wall clock where it is plausible. */
  check(lastHead: bigint | undefined): ClockState {
    const wall = this.#wall();
    const trusted = this.#trusted ?? this.#trust(wall, 'start');
    const expected = this.#expected(trusted, wall);
    const jump = wall - expected;
    if (jump > trusted.maxAhead) return this.#refuse(expected, wall, trusted.from);
    if (this.#memory.refused !== undefined) {
      const { refused: _corrected, ...memory } = this.#memory;
      this.#memory = memory;
    }
    const isJump = trusted.from === 'clock' && magnitude(jump) > stepNs;
    if (isJump) {
      const direction = jump > 0n ? 'forward' : 'backward';
      const message = `the host clock jumped ${direction} by ${duration(jump)}, to ${iso(wall)}; check its time service`;
      this.#jump = { message, atMs: this.runningMs() };
    }
    const isDue = this.runningMs() - trusted.runningMs >= limits.maxClockStepMs;
    if (isJump || isDue || trusted.from === 'start') this.#trust(wall, 'clock');
    return this.#compareHead(wall, lastHead);
  }

  /** Accepts the wall clock because an operator confirmed it. Clears reported faults. */
  confirm(lastHead: bigint | undefined): void {
    const { wall } = this.#trust(this.#wall(), 'clock');
    this.#jump = undefined;
    const times = [lastHead, this.#journalAt].filter((time) => time !== undefined && time > wall) as bigint[];
    const latest = times.reduce((a, b) => (a > b ? a : b), 0n);
    this.#memory = latest === 0n ? {} : { acceptedUntil: latest + jumpNs };
  }

  #refuse(expected: bigint, wall: bigint, from: Trusted['from']): ClockState {
    this.#memory = { refused: { plausible: expected, clock: wall }, ...this.#memory };
    const ahead =
      from === 'start'
        ? `is ${duration(wall - expected)} ahead of the last signed head, of ${iso(expected)}`
        : `jumped forward by ${duration(wall - expected)}; expected ${iso(expected)}`;
    const fault = `the host clock shows ${iso(wall)} and ${ahead}`;
    return { fault, finding: fault };
  }

  #compareHead(wall: bigint, lastHead: bigint | undefined): ClockState {
    const isAhead = (time: bigint | undefined): time is bigint =>
      time !== undefined && time - wall > stepNs && time > (this.#memory.acceptedUntil ?? 0n);
    if (isAhead(lastHead)) {
      const ahead = lastHead - wall;
      const message = `the last signed head is dated ${iso(lastHead)}, ${duration(ahead)} ahead of the host clock`;
      if (ahead > jumpNs) return { fault: message, finding: message };
      return {
        finding: `${message}; new heads are dated in minimal steps after it until the clock catches up`,
      };
    }
    if (isAhead(this.#journalAt)) {
      const ahead = `dated ${iso(this.#journalAt)}, ${duration(this.#journalAt - wall)} ahead of the host clock`;
      return { finding: `the journal has a line ${ahead}` };
    }
    if (this.#jump !== undefined && this.runningMs() - this.#jump.atMs < limits.clockFindingMs)
      return { finding: this.#jump.message };
    this.#jump = undefined;
    return {};
  }

  /**
   * Returns the time that follows from the trusted readings. Reads the boot time only if the time of the cheaper clock
   * differs from `now`.
   */
  #expected({ wall, runningMs, bootMs }: Trusted, now: bigint): bigint {
    const expected = wall + ns(this.runningMs() - runningMs);
    if (magnitude(now - expected) <= stepNs || bootMs === undefined) return expected;
    return wall + ns((this.#steady.bootMs() ?? bootMs) - bootMs);
  }

  #trust(wall: bigint, from: Trusted['from'], maxAhead?: bigint): Trusted {
    const [runningMs, bootMs] = [this.runningMs(), this.#steady.bootMs()];
    // Without a clock that counts suspended time, a suspension looks like a jump.
    this.#trusted = {
      wall,
      runningMs,
      bootMs,
      from,
      maxAhead: maxAhead ?? (bootMs === undefined ? gapNs : jumpNs),
    };
    return this.#trusted;
  }
}

function magnitude(time: bigint): bigint {
  return time < 0n ? -time : time;
}

function ns(ms: number): bigint {
  return BigInt(Math.round(Math.max(0, ms))) * nsPerMs;
}

function duration(time: bigint): string {
  return durationText(milliseconds(magnitude(time)));
}

function iso(time: bigint): string {
  return new Date(milliseconds(time)).toISOString();
}
