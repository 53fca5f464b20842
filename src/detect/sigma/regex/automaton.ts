import { limits } from '../../../limits.ts';
import { has, lastUnit, newline, wordUnits } from './char-set.ts';
import type { Assertion } from './parse-regex.ts';
import type { Program } from './program.ts';

/** What is on one side of a place between characters. */
const edge = { start: 0, end: 0, newline: 1, word: 2, other: 3 } as const;

/** Characters of the texts that are made to see how much work an expression can be made to do, at least, and of each. */
const sampleLength = 1024;
const sampleTextLength = 256;
/** Characters over which that work is averaged where the memory is full. */
const windowLength = 64;

const unknown = -1;
const accept = -2;
const reject = -3;
/** There is no room for another state. */
const full = -4;

/** Characters after which a full memory is cleared, because texts may have changed. Filling it takes up to 6 ms. */
const renewAfter = 2 ** 16;

/**
 * Searches texts for a regular expression in one pass, without ever going back: all ways in which it may match are
 * followed at once, and sets of ways that were met before are remembered as the states of a deterministic automaton,
 *
 *     state = (where the ways stand before the next character, what the last character was)
 *     character → class (characters that no part of the expression tells apart) → next state
 *
 * so that a step is a look-up. The memory is bounded: where a text needs another state when it is full, the rest of the text
 * is searched without it, which takes a twentieth of making states; then a step costs at most as many operations as the
 * expression has states. Neither the expression nor the text can make it take longer, which is why
 * this is not the engine's own RegExp: that tries one way after the other, and `(a+)+$` on forty characters takes it hours.
 * Of a text only the first `limits.maxRegexTextLength` characters are looked at, as if it ended there.
 */
export class Automaton {
  readonly #program: Program;
  /** Where a class has members among the first 256 characters, and where the ranges of classes begin beyond. */
  readonly #classOfByte = new Uint16Array(256);
  readonly #starts: readonly number[];
  readonly #classOfStart: readonly number[];
  /** One character of each class, and on which side of edges it is. */
  readonly #members: readonly number[];
  readonly #edges: readonly number[];
  readonly #asserts: boolean;
  /** Of each state that takes a character, the classes that it takes. */
  readonly #takes: readonly (Uint8Array | undefined)[];

  #ways: number[][] = [];
  #before: number[] = [];
  #next: Int16Array[] = [];
  #known = new Map<string, number>();
  /** The state before the first character, or -1. */
  #first = -1;

  readonly #stack: number[] = [];
  readonly #seen: Uint32Array;
  readonly #reached: Uint32Array;
  #round = 0;
  /** States of the expression that were looked at since the beginning: what texts took that a look-up did not answer. */
  #work = 0;
  /** Characters searched without the memory since it was full. */
  #withoutMemory = 0;

  /** The number of states of the expression. */
  get states(): number {
    return this.#program.states.length;
  }

  constructor(program: Program) {
    this.#program = program;
    this.#seen = new Uint32Array(program.states.length);
    this.#reached = new Uint32Array(program.states.length);
    this.#asserts = program.states.some(({ kind }) => kind === 'assert');
    const { starts, classes, members, taken } = classify(program);
    this.#takes = program.states.map((state) =>
      state.kind === 'unit' ? taken.get(state.set.join()) : undefined,
    );
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
    if (this.#withoutMemory > renewAfter) this.#forget();
    if (this.#first < 0) this.#first = this.#state([this.#program.start], edge.start);
    let state = this.#first;
    for (let at = 0; at < end; at++) {
      const kind = this.#classAt(text, at);
      const known = this.#next[state]![kind]!;
      const next = known === unknown ? this.#step(state, kind) : known;
      if (next === accept) return true;
      if (next === full) return this.#testFrom(text, at, end, this.#ways[state]!, this.#before[state]!);
      state = next;
    }
    return this.#step(state, this.#members.length) === accept;
  }

  /** The same from a character on, without making states. */
  #testFrom(text: string, from: number, end: number, ways: readonly number[], before: number): boolean {
    this.#withoutMemory += end - from;
    for (let at = from; at < end; at++) {
      const kind = this.#classAt(text, at);
      const after = this.#edges[kind]!;
      const reached = this.#follow(ways, before, after, false, kind);
      if (reached === undefined) return true;
      reached.push(this.#program.start);
      ways = reached;
      before = after;
    }
    return this.#follow(ways, before, edge.end, true, this.#members.length) === undefined;
  }

  #classAt(text: string, at: number): number {
    const unit = text.charCodeAt(at);
    return unit < 256 ? this.#classOfByte[unit]! : this.#classBeyond(unit);
  }

  /**
   * States that the expression looks at for each character of texts that are made to keep it busy, besides looking up what
   * it knows: every second character takes the way that is nearest to a match, the others any way. The same each time.
   * A text is twice as long as the expression has states, so that a beginning which takes little work hides nothing, and
   * where the memory is full, the busiest part of a text counts.
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
    let ways: readonly number[] = [];
    let before: number = edge.start;
    for (let at = 0; at < length; at++) {
      if (window?.at === at - windowLength)
        worst = Math.max(worst, (this.#work - window.work) / windowLength);
      if (state === accept || at % textLength === 0) {
        state = this.#state([start], edge.start);
        ways = [start];
        before = edge.start;
      }
      if (at % windowLength === 0) window = state === full ? { at, work: this.#work } : undefined;
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
      const kind = this.#busiest(ways, before, random);
      state = state === full ? full : this.#step(state, kind);
      const reached =
        state === full ? this.#follow(ways, before, this.#edges[kind]!, false, kind) : undefined;
      if (state === full && reached === undefined) state = accept;
      ways = reached === undefined ? (this.#ways[state] ?? []) : [...reached, start];
      before = this.#edges[kind]!;
    }
    return Math.max(worst, (this.#work - begun) / length);
  }

  /**
   * A class that one of the ways takes; of those that only begin, where there are no others. Not one that ends most of
   * the ways, as the last character of a match does, where there is another.
   */
  #busiest(ways: readonly number[], before: number, random: number): number {
    const { start } = this.#program;
    const begun = ways.length > 1 ? this.#unitsFrom(ways.filter((way) => way !== start)) : [];
    const units = begun.length > 0 ? begun : this.#unitsFrom(ways);
    const nearest = this.#classOf(units[0], random);
    const any = this.#classOf(units[(random >>> 16) % units.length], random);
    const [first, other] = random >>> 31 === 0 ? [nearest, any] : [any, nearest];
    return 2 * this.#reach(ways, before, first) < this.#reach(ways, before, other) ? other : first;
  }

  /** How many ways the class leaves; finding out is not counted as work. */
  #reach(ways: readonly number[], before: number, kind: number): number {
    const work = this.#work;
    const reached = this.#follow(ways, before, this.#edges[kind]!, false, kind);
    this.#work = work;
    return reached?.length ?? 0;
  }

  /** Returns a class that the state accepts, or an arbitrary class when it accepts none. */
  #classOf(unit: number | undefined, random: number): number {
    const takes = this.#takes[unit ?? 0];
    const classes = this.#members.length;
    for (let tried = 0; tried < classes; tried++) {
      const kind = ((random >>> 8) + tried) % classes;
      if (takes?.[kind] === 1) return kind;
    }
    return random % classes;
  }

  /** States that take a character, as far as the ways lead without one; those nearest to the match come first. */
  #unitsFrom(ways: readonly number[]): readonly number[] {
    const reached = new Set(ways);
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

  /** The state after a character of the class, `full` where there is no room for it; past the last class, the verdict at
   * the end of the text. */
  #step(from: number, kind: number): number {
    const known = this.#next[from]![kind]!;
    if (known !== unknown) return known;
    const atEnd = kind === this.#members.length;
    const after = atEnd ? edge.end : this.#edges[kind]!;
    const ways = this.#follow(this.#ways[from]!, this.#before[from]!, after, atEnd, kind);
    if (ways === undefined || atEnd) {
      const verdict = ways === undefined ? accept : reject;
      this.#next[from]![kind] = verdict;
      return verdict;
    }
    // The search may begin at the next character, too.
    if (!ways.includes(this.#program.start)) ways.push(this.#program.start);
    ways.sort((a, b) => a - b);
    const next = this.#state(ways, this.#asserts ? after : edge.other);
    if (next !== full) this.#next[from]![kind] = next;
    return next;
  }

  /** Where the ways stand after the character; undefined when one of them has matched before it. */
  #follow(
    ways: readonly number[],
    before: number,
    after: number,
    atEnd: boolean,
    kind: number,
  ): number[] | undefined {
    const { states } = this.#program;
    const reached: number[] = [];
    const stack = this.#stack;
    stack.length = 0;
    stack.push(...ways);
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

  #state(ways: number[], before: number): number {
    const key = `${before}:${ways.join()}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#ways.length >= limits.maxRegexAutomatonStates) return full;
    const state = this.#ways.push(ways) - 1;
    this.#before.push(before);
    this.#next.push(new Int16Array(this.#members.length + 1).fill(unknown));
    this.#known.set(key, state);
    return state;
  }

  #forget(): void {
    this.#ways = [];
    this.#before = [];
    this.#next = [];
    this.#known = new Map();
    this.#first = -1;
    this.#withoutMemory = 0;
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

/** Cuts the characters into ranges that are in the same sets, and gives ranges that are in the same sets one number. */
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
