import { limits } from '../../../limits.ts';
import { has, lastUnit, newline, wordUnits } from './char-set.ts';
import type { Assertion } from './parse-regex.ts';
import type { Program } from './program.ts';

/** The kind of the character on one side of a position in the text. */
const edge = { start: 0, end: 0, newline: 1, word: 2, other: 3 } as const;

/** Minimum total characters of the texts that are generated to measure the maximum work of an expression. */
const sampleLength = 1024;
/** Minimum characters of each generated text. */
const sampleTextLength = 256;
/** Number of characters for averaging the work while the state cache is full. */
const windowLength = 64;

const unknown = -1;
const accept = -2;
const reject = -3;
/** The result of a step to a state that is not cached while the state cache is full. */
const full = -4;

/**
 * When this number of characters was searched without the state cache, the full cache is cleared, because the texts may
 * have changed. Filling the cache takes up to 6 ms.
 */
const clearCacheAfter = 2 ** 16;

/**
 * Searches texts for a regular expression in one pass without backtracking. All possible matches are followed together.
 * Sets of positions are cached as the states of a deterministic automaton (the state cache), so that a step is a
 * look-up:
 *
 *     state = (positions in the expression before the next character, kind of the last character)
 *     character → class (characters that no part of the expression distinguishes) → next state
 *
 * The state cache is bounded. When the cache is full and a text needs another state, the rest of the text is searched
 * without the cache, in a twentieth of the time that creating states takes. A step then costs at most as many
 * operations as the expression has states; neither the expression nor the text can increase this cost. JavaScript's
 * RegExp cannot be used, because it backtracks: `(a+)+$` on forty characters takes hours. Only the first
 * `limits.maxRegexTextLength` characters of a text are searched, as if the text ended there.
 */
export class Automaton {
  readonly #program: Program;
  /** Class of each of the first 256 characters. */
  readonly #classOfByte = new Uint16Array(256);
  /** Starts of the ranges of characters with the same class, ascending. */
  readonly #starts: readonly number[];
  readonly #classOfStart: readonly number[];
  /** One character of each class. */
  readonly #members: readonly number[];
  /** Kind of the character in `#members`, by class; see `edge`. */
  readonly #edges: readonly number[];
  readonly #asserts: boolean;
  /** The classes accepted by each state that consumes a character. */
  readonly #takes: readonly (Uint8Array | undefined)[];

  #positions: number[][] = [];
  #before: number[] = [];
  #next: Int16Array[] = [];
  #known = new Map<string, number>();
  /** The state before the first character; -1 until it is computed. */
  #first = -1;

  readonly #stack: number[] = [];
  readonly #seen: Uint32Array;
  readonly #reached: Uint32Array;
  #round = 0;
  /** Total number of visited states of the expression: the work other than look-ups. */
  #work = 0;
  /** Number of characters that were searched without the state cache after its last clearing. */
  #uncachedCharacters = 0;

  /** Number of states of the expression. */
  get states(): number {
    return this.#program.states.length;
  }

  constructor(program: Program) {
    this.#program = program;
    this.#seen = new Uint32Array(program.states.length);
    this.#reached = new Uint32Array(program.states.length);
    this.#asserts = program.states.some(({ kind }) => kind === 'assert');
    const { starts, classes, members, taken } = classify(program);
    this.#takes = program.states.map((state) => (state.kind === 'unit' ? taken.get(state.set.join()) : undefined));
    this.#starts = starts;
    this.#classOfStart = classes;
    this.#members = members;
    this.#edges = members.map((unit) =>
      has(newline, unit) ? edge.newline : has(wordUnits, unit) ? edge.word : edge.other,
    );
    for (let unit = 0; unit < 256; unit++) this.#classOfByte[unit] = this.#classBeyond(unit);
  }

  test(text: string): boolean {
    const end = Math.min(text.length, limits.maxRegexTextLength);
    if (this.#uncachedCharacters > clearCacheAfter) this.#clearCache();
    if (this.#first < 0) this.#first = this.#state([this.#program.start], edge.start);
    let state = this.#first;
    for (let at = 0; at < end; at++) {
      const kind = this.#classAt(text, at);
      const known = this.#next[state]![kind]!;
      const next = known === unknown ? this.#step(state, kind) : known;
      if (next === accept) return true;
      if (next === full) return this.#testFrom(text, at, end, this.#positions[state]!, this.#before[state]!);
      state = next;
    }
    return this.#step(state, this.#members.length) === accept;
  }

  /** Continues the search from a position, without creating states. */
  #testFrom(text: string, from: number, end: number, positions: readonly number[], before: number): boolean {
    this.#uncachedCharacters += end - from;
    for (let at = from; at < end; at++) {
      const kind = this.#classAt(text, at);
      const after = this.#edges[kind]!;
      const reached = this.#follow(positions, before, after, false, kind);
      if (reached === undefined) return true;
      reached.push(this.#program.start);
      positions = reached;
      before = after;
    }
    return this.#follow(positions, before, edge.end, true, this.#members.length) === undefined;
  }

  #classAt(text: string, at: number): number {
    const unit = text.charCodeAt(at);
    return unit < 256 ? this.#classOfByte[unit]! : this.#classBeyond(unit);
  }

  /**
   * Returns the number of visited states per character, excluding look-ups, for texts that are generated to maximise
   * that number. About half of the characters continue the position nearest to a match, and the remaining characters
   * continue an arbitrary position. The result is deterministic. Each text is twice as long as the expression has
   * states, so that a cheap beginning does not hide the cost of the rest. When the state cache is full, the result is
   * based on the most expensive part of a text.
   */
  workPerCharacter(): number {
    const begun = this.#work;
    const textLength = Math.max(sampleTextLength, 2 * this.states);
    const length = Math.max(sampleLength, 2 * textLength);
    let worst = 0;
    let window: { readonly at: number; readonly work: number } | undefined;
    const { start } = this.#program;
    let random = 1;
    let state: number = full;
    let positions: readonly number[] = [];
    let before: number = edge.start;
    for (let at = 0; at < length; at++) {
      if (window?.at === at - windowLength) worst = Math.max(worst, (this.#work - window.work) / windowLength);
      if (state === accept || at % textLength === 0) {
        state = this.#state([start], edge.start);
        positions = [start];
        before = edge.start;
      }
      if (at % windowLength === 0) window = state === full ? { at, work: this.#work } : undefined;
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
      const kind = this.#busiest(positions, before, random);
      state = state === full ? full : this.#step(state, kind);
      const reached = state === full ? this.#follow(positions, before, this.#edges[kind]!, false, kind) : undefined;
      if (state === full && reached === undefined) state = accept;
      positions = reached === undefined ? (this.#positions[state] ?? []) : [...reached, start];
      before = this.#edges[kind]!;
    }
    return Math.max(worst, (this.#work - begun) / length);
  }

  /**
   * Returns a class that one of the positions accepts, preferring positions after the start. If possible, avoids
   * classes after which few positions remain, as after the last character of a match.
   */
  #busiest(positions: readonly number[], before: number, random: number): number {
    const { start } = this.#program;
    const begun = positions.length > 1 ? this.#unitsFrom(positions.filter((position) => position !== start)) : [];
    const units = begun.length > 0 ? begun : this.#unitsFrom(positions);
    const nearest = this.#classOf(units[0], random);
    const any = this.#classOf(units[(random >>> 16) % units.length], random);
    const [first, other] = random >>> 31 === 0 ? [nearest, any] : [any, nearest];
    return 2 * this.#reach(positions, before, first) < this.#reach(positions, before, other) ? other : first;
  }

  /** Returns how many positions remain after a character of the class, without adding to `#work`. */
  #reach(positions: readonly number[], before: number, kind: number): number {
    const work = this.#work;
    const reached = this.#follow(positions, before, this.#edges[kind]!, false, kind);
    this.#work = work;
    return reached?.length ?? 0;
  }

  /** Returns a class that the state accepts, or an arbitrary class if the state accepts no class. */
  #classOf(unit: number | undefined, random: number): number {
    const takes = this.#takes[unit ?? 0];
    const classes = this.#members.length;
    for (let tried = 0; tried < classes; tried++) {
      const kind = ((random >>> 8) + tried) % classes;
      if (takes?.[kind] === 1) return kind;
    }
    return random % classes;
  }

  /**
   * Returns the consuming states that are reachable without a character, sorted by distance from the match.
   */
  #unitsFrom(positions: readonly number[]): readonly number[] {
    const reached = new Set(positions);
    for (const at of reached) {
      const state = this.#program.states[at]!;
      if (state.kind === 'split') for (const next of state.next) reached.add(next);
      else if (state.kind === 'assert') reached.add(state.next);
    }
    return [...reached].filter((at) => this.#takes[at] !== undefined).sort((a, b) => a - b);
  }

  #classBeyond(unit: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= unit) low = middle;
      else high = middle - 1;
    }
    return this.#classOfStart[low]!;
  }

  /**
   * Returns the state after a character of the class, or `full` if that state is not cached and the state cache is
   * full. For the index after the last class, returns the verdict at the end of the text.
   */
  #step(from: number, kind: number): number {
    const known = this.#next[from]![kind]!;
    if (known !== unknown) return known;
    const atEnd = kind === this.#members.length;
    const after = atEnd ? edge.end : this.#edges[kind]!;
    const positions = this.#follow(this.#positions[from]!, this.#before[from]!, after, atEnd, kind);
    if (positions === undefined || atEnd) {
      const verdict = positions === undefined ? accept : reject;
      this.#next[from]![kind] = verdict;
      return verdict;
    }
    // A match may also begin at the next character.
    if (!positions.includes(this.#program.start)) positions.push(this.#program.start);
    positions.sort((a, b) => a - b);
    const next = this.#state(positions, this.#asserts ? after : edge.other);
    if (next !== full) this.#next[from]![kind] = next;
    return next;
  }

  /** Returns the positions after the character; undefined if a match is complete before the character. */
  #follow(
    positions: readonly number[],
    before: number,
    after: number,
    atEnd: boolean,
    kind: number,
  ): number[] | undefined {
    const { states } = this.#program;
    const reached: number[] = [];
    const stack = this.#stack;
    stack.length = 0;
    stack.push(...positions);
    this.#round++;
    while (stack.length > 0) {
      const at = stack.pop()!;
      if (this.#seen[at] === this.#round) continue;
      this.#seen[at] = this.#round;
      this.#work++;
      const state = states[at]!;
      if (state.kind === 'match') return undefined;
      if (state.kind === 'split') stack.push(...state.next);
      else if (state.kind === 'assert') {
        if (holds(state.what, before, after, atEnd)) stack.push(state.next);
      } else if (!atEnd && this.#takes[at]![kind] === 1 && this.#reached[state.next] !== this.#round) {
        this.#reached[state.next] = this.#round;
        reached.push(state.next);
      }
    }
    return reached;
  }

  #state(positions: number[], before: number): number {
    const key = `${before}:${positions.join()}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#positions.length >= limits.maxRegexAutomatonStates) return full;
    const state = this.#positions.push(positions) - 1;
    this.#before.push(before);
    this.#next.push(new Int16Array(this.#members.length + 1).fill(unknown));
    this.#known.set(key, state);
    return state;
  }

  #clearCache(): void {
    this.#positions = [];
    this.#before = [];
    this.#next = [];
    this.#known = new Map();
    this.#first = -1;
    this.#uncachedCharacters = 0;
  }
}

function holds(what: Assertion, before: number, after: number, atEnd: boolean): boolean {
  switch (what) {
    case 'text start':
      return before === edge.start;
    case 'line start':
      return before === edge.start || before === edge.newline;
    case 'text end':
      return atEnd;
    case 'line end':
      return atEnd || after === edge.newline;
    case 'word edge':
      return (before === edge.word) !== (after === edge.word);
    case 'no word edge':
      return (before === edge.word) === (after === edge.word);
  }
}

/**
 * Divides the characters into ranges whose characters are in the same sets, and assigns one class to all ranges with
 * the same sets.
 */
function classify({ states }: Program): {
  starts: number[];
  classes: number[];
  members: number[];
  taken: Map<string, Uint8Array>;
} {
  const sets = states.flatMap((state) => (state.kind === 'unit' ? [state.set] : []));
  if (states.some(({ kind }) => kind === 'assert')) sets.push(newline, wordUnits);
  const distinct = new Map(sets.map((set) => [set.join(), set]));
  const cuts = new Set([0]);
  for (const set of distinct.values())
    set.forEach((unit, at) => {
      cuts.add(at % 2 === 0 ? unit : unit + 1);
    });
  const starts = [...cuts].filter((unit) => unit <= lastUnit).sort((a, b) => a - b);
  const bySignature = new Map<string, number>();
  const members: number[] = [];
  const classes = starts.map((unit) => {
    const signature = [...distinct.values()].map((set) => (has(set, unit) ? '1' : '0')).join('');
    const known = bySignature.get(signature) ?? members.push(unit) - 1;
    bySignature.set(signature, known);
    return known;
  });
  const taken = new Map(
    [...distinct].map(([key, set]) => [key, Uint8Array.from(members, (unit) => (has(set, unit) ? 1 : 0))]),
  );
  return { starts, classes, members, taken };
}
