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
  /** More is never less: it stays exact however much is forgotten. */
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

const counting = (threshold: fc.Arbitrary<object>, grows: boolean) =>
  fc.tuple(fc.constantFrom('event_count', 'value_count'), threshold).map(([type, bounds]): Given => {
    const condition = type === 'event_count' ? bounds : { ...bounds, ...field };
    return { document: document({ type, condition }), grows };
  });

const measuring: fc.Arbitrary<Given> = fc
  .tuple(
    fc.constantFrom('value_sum', 'value_avg', 'value_percentile'),
    metric,
    fc.constantFrom(0, 33.3, 50, 100),
  )
  .map(([type, bounds, percentile]) => {
    const condition = { ...bounds, ...field, ...(type === 'value_percentile' ? { percentile } : {}) };
    return { document: document({ type, condition }), grows: false };
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
  fc
    .constantFrom('temporal', 'temporal_ordered')
    .map((type) => ({ document: document({ type }), grows: true })),
  fc.integer({ min: 1, max: 3 }).map((gte) => ({
    document: document({ type: 'temporal_ordered', condition: { gte } }),
    grows: true,
  })),
  fc.constantFrom({ gte: 2 }, { eq: 2 }, { lte: 2 }, { neq: 1 }).map((condition) => ({
    document: document({ type: 'temporal', condition }),
    grows: false,
  })),
  fc.constantFrom(...expressions).map(([condition, holds]) => ({
    document: document({ type: 'temporal', condition }),
    holds,
    grows: false,
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
      .map(({ rule, at, group, value }) =>
        input('it', rule, at / 2, { group: [group], value: String(value), event: `${rule}${at}` }),
      ),
    { minLength: 1, maxLength: most, size: 'max' },
  );

/** What is taken at once. */
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

const seen = ({ how, group, timestamp, firstTimestamp, count, value }: Fired): Expected => {
  return { how, group: group.map((one) => one.value).join(), timestamp, firstTimestamp, count, value };
};

function compare({ document, holds }: Given, batches: CorrelationInput[][], beginnings = false): void {
  const naive = new Naive(document, holds);
  const real = correlator([document]);
  for (const batch of batches) {
    const expected = naive.take(batch);
    const fired = real.take(batch, now + 1e6).map(seen);
    if (beginnings) expect(fired.flatMap(beginning)).toEqual(expected.flatMap(beginning));
    else expect(fired).toEqual(expected);
  }
  expect(real.counters.late).toBe(naive.late);
}

/** How many inputs there were is not known any more when some were forgotten, nor when they have doubled. */
const beginning = ({ how, group, timestamp }: Expected) => (how === 'begins' ? [{ group, timestamp }] : []);

describe('the same fires as where everything is kept and looked at anew', () => {
  const anyGiven = fc.oneof(counting(any, false), measuring, sharing, meeting);

  it('in any order, while little comes', () => {
    const property = fc.property(anyGiven, batches(inputs(16, 30)), (given, some) => compare(given, some));
    fc.assert(property, { numRuns: 2000 });
  });

  it('in any order, when much comes, for what only has to be enough', () => {
    const enough = fc.integer({ min: 1, max: 16 }).map((gte): Given => {
      return { document: document({ type: 'event_count', condition: { gte } }), grows: true };
    });
    const property = fc.property(enough, batches(inputs(150, 60)), (given, some) =>
      compare(given, some, true),
    );
    fc.assert(property, { numRuns: 500 });
  });

  it('in any order, when much comes, for sums, averages, percentiles and shares', () => {
    const property = fc.property(fc.oneof(measuring, sharing), batches(inputs(150, 60)), (given, some) =>
      compare(given, some),
    );
    fc.assert(property, { numRuns: 200 });
  });

  it('in order, when much comes, for all types', () => {
    const property = fc.property(anyGiven, inputs(250, 120), (given, some) => {
      compare(given, [some.toSorted((a, b) => a.timestamp - b.timestamp)], true);
    });
    fc.assert(property, { numRuns: 300 });
  });
});

it.each([
  ['a timespan', 10, 0],
  ['the delay that is allowed, six timespans', 60, 60_000],
])('the order of inputs changes nothing about who fires, while they are within %s', (_, seconds, delayMs) => {
  const given = fc.oneof(
    counting(lower, true),
    meeting.filter(({ grows }) => grows),
  );
  const whoFires = (real: Correlator, some: CorrelationInput[]) =>
    new Set(some.flatMap((one) => real.take([one], now + 1e6)).map((one) => one.group[0]!.value));
  const shuffled = inputs(16, seconds).chain((some) =>
    fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
  );
  const property = fc.property(given, shuffled, ({ document }, [some, others]) => {
    const fresh = () => correlator([document], { delayMs });
    expect(whoFires(fresh(), some)).toEqual(whoFires(fresh(), others));
  });
  fc.assert(property, { numRuns: 1000 });
});

it('a restart in the middle changes nothing', () => {
  const given = fc.oneof(counting(any, false), measuring, sharing, meeting);
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
  fc.assert(property, { numRuns: 500 });
});
