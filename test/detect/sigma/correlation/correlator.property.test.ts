import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CorrelationInput } from '../../../../src/detect/sigma/correlation/correlation-input.ts';
import type { Correlator } from '../../../../src/detect/sigma/correlation/correlator.ts';
import type { Fired } from '../../../../src/detect/sigma/correlation/fired.ts';
import type { CorrelationDocument } from '../../../../src/detect/sigma/document.ts';
import { correlation, correlator, input, now } from './given.ts';
import { type Expected, Naive } from './naive.ts';

const rules = ['aa', 'bb', 'cc'];
const small = fc.integer({ min: 1, max: 5 });

interface Given {
  readonly document: CorrelationDocument;
  readonly holds?: (has: (rule: string) => boolean) => boolean;
  /** Whether more inputs can never violate the condition. */
  readonly grows: boolean;
}

const document = (section: object) => correlation('it', { rules, ...section });
const lower = fc.record({ gte: small });
const any = fc.oneof(
  lower,
  fc.record({ gt: small }),
  fc.record({ lt: fc.integer({ min: 2, max: 5 }) }),
  fc.record({ lte: small }),
  fc.record({ eq: small }),
  fc.record({ neq: small }),
  fc.record({ gte: fc.constant(2), lte: fc.constant(4) }),
);
const metric = fc.oneof(
  lower,
  fc.record({ gt: fc.double({ min: -3, max: 9, noNaN: true }) }),
  fc.record({ lt: small }),
);
const field = { field: 'value' };

const counting = (threshold: fc.Arbitrary<object>) =>
  fc.tuple(fc.constantFrom('event_count', 'value_count'), threshold).map(([type, bounds]): Given => {
    const condition = type === 'event_count' ? bounds : { ...bounds, ...field };
    const grows = Object.keys(bounds).every((name) => name === 'gt' || name === 'gte');
    return { document: document({ type, condition }), grows };
  });

const measuring: fc.Arbitrary<Given> = fc
  .tuple(fc.constantFrom('value_sum', 'value_avg', 'value_percentile'), metric, fc.constantFrom(0, 33.3, 50, 100))
  .map(([type, bounds, percentile]) => {
    const condition = { ...bounds, ...field, ...(type === 'value_percentile' ? { percentile } : {}) };
    const grows = type === 'value_sum' && !('lt' in bounds);
    return { document: document({ type, condition }), grows };
  });

const sharing: fc.Arbitrary<Given> = fc.integer({ min: 5, max: 60 }).map((lte) => {
  return { document: document({ type: 'value_percentile', condition: { ...field, lte } }), grows: false };
});

const expressions: readonly (readonly [string, NonNullable<Given['holds']>])[] = [
  ['aa and bb', (has) => has('aa') && has('bb')],
  ['aa and not bb', (has) => has('aa') && !has('bb')],
  ['(aa or bb) and cc', (has) => (has('aa') || has('bb')) && has('cc')],
  ['aa and not (bb and cc)', (has) => has('aa') && !(has('bb') && has('cc'))],
  ['1 of them', (has) => has('aa') || has('bb') || has('cc')],
];

const meeting: fc.Arbitrary<Given> = fc.oneof(
  fc.constantFrom('temporal', 'temporal_ordered').map((type) => ({ document: document({ type }), grows: true })),
  fc.integer({ min: 1, max: 3 }).map((gte) => ({
    document: document({ type: 'temporal_ordered', condition: { gte } }),
    grows: true,
  })),
  fc.constantFrom({ gte: 2 }, { eq: 2 }, { lte: 2 }, { neq: 1 }).map((condition) => ({
    document: document({ type: 'temporal', condition }),
    grows: 'gte' in condition,
  })),
  fc.constantFrom(...expressions).map(([condition, holds]) => ({
    document: document({ type: 'temporal', condition }),
    holds,
    grows: !condition.includes('not'),
  })),
);

const inputs = (most: number, seconds: number) =>
  fc.array(
    fc
      .record({
        rule: fc.constantFrom(...rules),
        at: fc.integer({ min: 0, max: 2 * seconds }),
        group: fc.constantFrom('h', 'i'),
        value: fc.integer({ min: -1, max: 6 }),
      })
      .map(({ rule, at, group, value }) => {
        const ends = { group, value, rule };
        const event = `${rule} ${at}`;
        return input('it', rule, at / 2, { group: [group], value: String(value), event, ends });
      }),
    { minLength: 1, maxLength: most, size: 'max' },
  );

/** Divides inputs into batches, each of which is passed in one call. */
const batches = (all: fc.Arbitrary<CorrelationInput[]>) =>
  fc.tuple(all, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })).map(([inputs, sizes]) => {
    const batches: CorrelationInput[][] = [];
    for (let from = 0, i = 0; from < inputs.length; i++) {
      const size = sizes[i % sizes.length]!;
      batches.push(inputs.slice(from, from + size));
      from += size;
    }
    return batches;
  });

interface Seen extends Expected {
  readonly ends: unknown;
  readonly senders: readonly string[];
}

const seen = ({ group, timestamp, firstTimestamp, count, value, ends, senders }: Fired): Seen => {
  const values = group.map((one) => one.value).join();
  return { group: values, timestamp, firstTimestamp, count, value, ends, senders: senders.toSorted() };
};

/** The episodes that all reports so far describe. */
class Reported {
  readonly real: Correlator;
  #episodes: Seen[] = [];
  /** Number of occurrences in alerts. */
  occurrences = 0;

  constructor(real: Correlator) {
    this.real = real;
  }

  take(batch: readonly CorrelationInput[]): this {
    for (const fired of this.real.take(batch, now + 1e6)) this.#hear(fired);
    return this;
  }

  episodes(): Seen[] {
    for (const fired of this.real.refresh()) this.#hear(fired);
    return this.#episodes.sort((a, b) => a.group.localeCompare(b.group) || a.firstTimestamp - b.firstTimestamp);
  }

  #hear(fired: Fired): void {
    const one = seen(fired);
    const isOther = (known: Expected) =>
      known.group !== one.group || known.timestamp < one.firstTimestamp || known.firstTimestamp > one.timestamp;
    const others = this.#episodes.filter(isOther);
    const before = this.#episodes.length - others.length;
    expect(before).toBe(fired.how === 'begins' ? 0 : 1 + fired.joined);
    this.occurrences += fired.how === 'begins' ? 1 : -fired.joined;
    this.#episodes = [...others, one];
  }
}

/** Sums of non-negative values only grow. */
const nonNegative = (batch: readonly CorrelationInput[]) => batch.filter(({ value }) => value !== '-1');

/** @param delayMs - long enough to keep all groups, short enough that some inputs are late */
function compare({ document, holds, grows }: Given, batches: CorrelationInput[][], delayMs: number): void {
  const naive = new Naive(document, grows, delayMs, holds);
  const reported = new Reported(correlator([document], { delayMs }));
  for (const all of batches) {
    const batch = grows ? nonNegative(all) : all;
    naive.take(batch);
    reported.take(batch);
    expect(reported.episodes()).toMatchObject(naive.episodes());
    expect(reported.occurrences).toBe(naive.episodes().length);
  }
  expect(reported.real.counters.late).toBe(naive.late);
}

describe('episodes equal the episodes of an evaluation that keeps all inputs and re-evaluates every window', () => {
  const anyGiven = fc.oneof(counting(any), measuring, sharing, meeting);

  it('in any order, with few inputs', () => {
    const property = fc.property(anyGiven, batches(inputs(16, 30)), (given, some) => compare(given, some, 22_000));
    fc.assert(property, { numRuns: 300 });
  });

  it('in any order, with many inputs', () => {
    const property = fc.property(anyGiven, batches(inputs(150, 60)), (given, some) => compare(given, some, 51_000));
    fc.assert(property, { numRuns: 100 });
  });
});

const monotone = fc.oneof(
  counting(lower),
  fc.integer({ min: 1, max: 9 }).map((gte) => ({
    document: document({ type: 'value_sum', condition: { gte, ...field } }),
    grows: true,
  })),
  meeting.filter(({ grows }) => grows),
);

/** Generates the same inputs twice: in batches, and in another order in batches of other sizes. */
const twice = (seconds: number) =>
  inputs(60, seconds).chain((some) =>
    fc.tuple(batches(fc.constant(some)), batches(fc.shuffledSubarray(some, { minLength: some.length })), fc.boolean()),
  );

it.each([
  ['a timespan', 10, 0],
  ['the allowed delay, six timespans', 60, 60_000],
])('the order of inputs does not change episodes or figures within %s', (_, seconds, delayMs) => {
  const property = fc.property(monotone, twice(seconds), ({ document }, [some, others, often]) => {
    const after = (batches: CorrelationInput[][]) => {
      const reported = new Reported(correlator([document], { delayMs }));
      for (const batch of batches) {
        reported.take(nonNegative(batch));
        if (often) reported.episodes();
      }
      return [reported.episodes(), reported.occurrences];
    };
    expect(after(some)).toEqual(after(others));
  });
  fc.assert(property, { numRuns: 200 });
});

it('the order of inputs does not change episodes of a temporal correlation over another correlation', () => {
  const documents = [
    correlation('it', { type: 'event_count', rules: ['aa'], condition: { gte: 2 } }),
    correlation('outer', { type: 'temporal', rules: ['it', 'bb'] }),
  ];
  const property = fc.property(twice(60), ([some, others]) => {
    const after = (batches: CorrelationInput[][]) => {
      const reported = new Reported(correlator(documents, { delayMs: 60_000 }));
      for (const batch of batches)
        reported.take(batch.map((one) => ({ ...one, correlation: one.rule === 'aa' ? 'it' : 'outer' })));
      return reported.episodes().map(({ ends: _, senders: __, ...figures }) => figures);
    };
    expect(after(some)).toEqual(after(others));
  });
  fc.assert(property, { numRuns: 100 });
});

it('a restart between inputs does not change episodes', () => {
  const given = fc.oneof(counting(any), measuring, sharing, meeting);
  const property = fc.property(given, batches(inputs(200, 60)), fc.nat(), ({ document }, some, at) => {
    const outer = correlation('outer', { type: 'temporal_ordered', rules: ['it', 'aa'] });
    const documents = [{ ...document, generate: true }, outer];
    const through = correlator(documents);
    let restarted = correlator(documents);
    for (const [i, batch] of some.entries()) {
      if (i === at % some.length) {
        const state = structuredClone(restarted.state());
        restarted = correlator(documents);
        expect(restarted.restore(state)).toEqual({ kept: 2, dropped: 0 });
      }
      expect(restarted.take(batch, now + 1e6)).toEqual(through.take(batch, now + 1e6));
    }
    expect(restarted.state()).toEqual(through.state());
  });
  fc.assert(property, { numRuns: 150 });
});
