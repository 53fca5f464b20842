import { limits } from '../../../limits.ts';
import { has, lastUnit, newline, wordUnits } from './char-set.ts';
import type { Assertion } from './parse-regex.ts';
import type { Program } from './program.ts';

/** What is on one side of a place between characters. */
const edge = { start: 0, end: 0, newline: 1, word: 2, other: 3 } as const;

const unknown = -1;
const accept = -2;
const reject = -3;

/**
 * Searches texts for a regular expression in one pass, without ever going back: all ways in which it may match are
 * followed at once, and sets of ways that were met before are remembered as the states of a deterministic automaton,
 *
 *     state = (where the ways stand before the next character, what the last character was)
 *     character → class (characters that no part of the expression tells apart) → next state
 *
 * so that a step is a look-up. The memory is bounded; when it is full it begins anew, and then a step costs at most as
 * many operations as the expression has states. Neither the expression nor the text can make it take longer, which is why
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
  #round = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#seen = new Uint32Array(program.states.length);
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
    if (this.#first < 0) this.#first = this.#state([this.#program.start], edge.start);
    let state = this.#first;
    for (let at = 0; at < end; at++) {
      const unit = text.charCodeAt(at);
      const kind = unit < 256 ? this.#classOfByte[unit]! : this.#classBeyond(unit);
      const next = this.#next[state]![kind]!;
      state = next === unknown ? this.#step(state, kind) : next;
      if (state === accept) return true;
    }
    return this.#step(state, this.#members.length) === accept;
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

  /** The state after a character of the class; past the last class, the verdict at the end of the text. */
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
    const full = this.#ways.length >= limits.maxRegexAutomatonStates;
    if (full) this.#forget();
    const next = this.#state(ways, this.#asserts ? after : edge.other);
    if (!full) this.#next[from]![kind] = next;
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
      const state = states[at]!;
      if (state.kind === 'match') return undefined;
      if (state.kind === 'split') stack.push(...state.next);
      else if (state.kind === 'assert') {
        if (holds(state.what, before, after, atEnd)) stack.push(state.next);
      } else if (!atEnd && this.#takes[at]![kind] === 1) reached.push(state.next);
    }
    return [...new Set(reached)];
  }

  #state(ways: number[], before: number): number {
    const key = `${before}:${ways.join()}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
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
