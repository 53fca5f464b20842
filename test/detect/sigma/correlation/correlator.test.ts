import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import type { CorrelationInput } from '../../../../src/detect/sigma/correlation/correlation-input.ts';
import { correlationLimits } from '../../../../src/detect/sigma/correlation/correlation-limits.ts';
import { Correlator } from '../../../../src/detect/sigma/correlation/correlator.ts';
import type { Fired } from '../../../../src/detect/sigma/correlation/fired.ts';
import { correlation, correlator, input, linked, now } from './given.ts';

const count = (gte: number, more = {}) =>
  correlation('many', { type: 'event_count', rules: ['aa'], condition: { gte }, ...more });
const at = (...seconds: number[]) => seconds.map((one) => input('many', 'aa', one));
const later = now + 1e9;
const times = (fired: readonly Fired[]) => fired.map(({ how, timestamp }) => [how, (timestamp - now) / 1000]);

describe('a report', () => {
  it('names group, time, number, events, senders, and the addresses that all inputs share', () => {
    const document = correlation('failed', {
      type: 'value_count',
      rules: ['ssh', 'rdp'],
      'group-by': ['src_ip', 'dst_ip'],
      condition: { field: 'user', gte: 3 },
    });
    const real = correlator([document]);
    const group = ['10.0.0.1', null];
    const some = ['root', 'root', 'admin', 'guest'].map((value, i) =>
      input('failed', i === 0 ? 'rdp' : 'ssh', i, {
        group,
        value,
        event: `s${i % 2} e${i}`,
        ends: { src_ip: '10.0.0.1', i },
      }),
    );
    expect(real.take(some, later)).toEqual([
      {
        correlation: 'failed',
        how: 'begins',
        group: [
          { field: 'src_ip', value: '10.0.0.1' },
          { field: 'dst_ip', value: null },
        ],
        timestamp: now + 3000,
        firstTimestamp: now,
        count: 4,
        value: 3,
        joined: 0,
        atLeast: false,
        events: ['s0 e0', 's1 e1', 's0 e2', 's1 e3'],
        ends: { src_ip: '10.0.0.1' },
        senders: ['s0', 's1'],
      },
    ]);
  });

  it('has a limited sample of events that includes every rule', () => {
    const document = correlation('pair', { type: 'temporal', rules: ['aa', 'bb'] });
    const real = correlator([document]);
    const flood = Array.from({ length: 500 }, (_, i) => input('pair', 'bb', i / 100, { event: `b${i}` }));
    expect(real.take(flood, later)).toEqual([]);
    const [fired] = real.take([input('pair', 'aa', 5, { event: 'a' })], later);
    expect(fired!.events).toHaveLength(correlationLimits.samples);
    expect(fired!.events.at(-1)).toBe('a');
  });
});

describe('windows', () => {
  it('slide, and include both bounds', () => {
    expect(times(correlator([count(3)]).take(at(8, 9, 18), later))).toEqual([['begins', 18]]);
    expect(times(correlator([count(3)]).take(at(8, 9, 18.001), later))).toEqual([]);
  });

  it('may end before the newest input if an input is late', () => {
    const real = correlator([count(3)]);
    expect(times(real.take(at(0, 1, 15), later))).toEqual([]);
    expect(times(real.take(at(6), later))).toEqual([['begins', 6]]);
  });

  it('that end before the newest input are evaluated, however many inputs surround a late input', () => {
    const real = correlator([count(4)], { lookback: 4 });
    real.take(at(0, 1, 2, 14, 15), later);
    expect(times(real.take(at(6), later))).toEqual([['begins', 6]]);
  });

  it('of a condition with a maximum, such as eq, that end before the newest input are evaluated if few inputs surround a late input', () => {
    const few = correlation('many', { type: 'event_count', rules: ['aa'], condition: { eq: 4 } });
    const fired = (lookback: number) => {
      const real = correlator([few], { lookback });
      real.take(at(0, 1, 2, 14, 15), later);
      return times(real.take(at(6), later));
    };
    expect([fired(6), fired(5)]).toEqual([[['begins', 6]], []]);
  });

  it('accept inputs that are late by up to a timespan, and count inputs that are too late', () => {
    const real = correlator([count(2)]);
    expect(times(real.take(at(20), later))).toEqual([]);
    expect(times(real.take(at(9.999), later))).toEqual([]);
    expect(real.counters.late).toBe(1);
    expect(times(real.take(at(10), later))).toEqual([['begins', 20]]);
  });

  it('do not treat inputs as late because of inputs in other groups', () => {
    const real = correlator([count(2)]);
    const of = (group: string, ...seconds: number[]) => at(...seconds).map((one) => ({ ...one, group: [group] }));
    real.take(of('ahead', 15), later);
    expect(times(real.take(of('behind', 1, 2), later))).toEqual([['begins', 2]]);
  });

  it('do not treat inputs as late if the clock of another sensor is ahead', () => {
    const real = correlator([count(3)]);
    expect(times(real.take(at(60), now))).toEqual([]);
    expect(times(real.take(at(-1, 0), now))).toEqual([['begins', 0]]);
    expect(real.counters).toMatchObject({ late: 0, ahead: 0 });
  });

  it('treat inputs ahead of the clock as current', () => {
    const real = correlator([count(2)]);
    const lead = correlationLimits.leadMs / 1000;
    expect(times(real.take(at(lead + 1), now))).toEqual([]);
    expect(times(real.take(at(1, Number.NaN), now))).toEqual([['begins', 0]]);
    expect(real.counters.ahead).toBe(2);
  });
});

describe('an episode', () => {
  const figures = (fired: readonly Fired[]) =>
    fired.map(({ how, firstTimestamp, timestamp, count, value }) => [
      how,
      (firstTimestamp - now) / 1000,
      (timestamp - now) / 1000,
      count,
      value,
    ]);

  it('is reported at its start, and its figures on request', () => {
    const real = correlator([count(3)]);
    expect(figures(real.take(at(0, 1, 2), later))).toEqual([['begins', 0, 2, 3, 3]]);
    expect([real.growing, real.refresh()]).toEqual([0, []]);
    expect(real.take(at(3, 12, 13), later)).toEqual([]);
    expect(real.growing).toBe(1);
    expect(figures(real.refresh())).toEqual([['grows', 0, 13, 6, 4]]);
    expect(real.refresh()).toEqual([]);
  });

  it('continues while windows that meet the condition end at most a timespan apart', () => {
    const pairs = (...seconds: number[]) => seconds.flatMap((one) => [one, one + 1]);
    const fired = (apart: number) => figures(correlator([count(2)]).take(at(...pairs(0, apart)), later));
    expect(fired(10)).toEqual([['begins', 0, 11, 4, 3]]);
    expect(fired(12)).toEqual([
      ['begins', 0, 1, 2, 2],
      ['begins', 12, 13, 2, 2],
    ]);
  });

  it('that was reported as two episodes becomes one episode after a late input between them', () => {
    const real = correlator([count(2)], { delayMs: 60_000 });
    expect(real.take(at(0, 1, 18, 19), later)).toHaveLength(2);
    const fired = real.take(at(9), later);
    expect(figures(fired)).toEqual([['joins', 0, 19, 5, 3]]);
    expect(fired[0]!.joined).toBe(1);
  });

  it('has exact figures while all inputs are kept, and figures marked as lower bounds afterwards', () => {
    const real = correlator([count(1)]);
    const flood = (n: number) => real.take(at(...Array.from({ length: n }, (_, i) => i / 10_000)), later);
    expect(flood(8000)).toMatchObject([{ count: 8000, value: 8000, atLeast: false }]);
    flood(65_536 - 8000);
    const [grown] = real.refresh();
    expect(grown).toMatchObject({ count: 65_536, atLeast: true });
    expect(grown!.value).toBeGreaterThan(8000);
  });

  it('of an evicted group is reported with its last figures', () => {
    const real = correlator([count(2)]);
    real.take(at(0, 1), later);
    real.take(at(2), later);
    const other = { ...at(100)[0]!, group: ['other'] };
    expect(figures(real.take([other], later))).toEqual([['grows', 0, 2, 3, 3]]);
  });
});

describe('groups', () => {
  it('are identified by all their values; some values may be missing', () => {
    const real = correlator([count(2, { 'group-by': ['host', 'user'] })]);
    const groups = [
      ['h', 'u'],
      ['h', null],
      ['h', ''],
      ['h', 'null'],
      [null, 'h'],
      ['h","u', ''],
      ['h', '","u'],
    ];
    const once = groups.map((group, i) => ({ ...at(i / 10)[0]!, group }));
    expect(real.take(once, later)).toEqual([]);
    const twice = real.take(once, later);
    expect(twice.map(({ group }) => group.map(({ value }) => value))).toEqual(groups);
  });

  it('do not exist if all values are missing', () => {
    const real = correlator([count(1, { 'group-by': ['host', 'user'] })]);
    expect(real.take([{ ...at(1)[0]!, group: [null, null] }], later)).toEqual([]);
    expect(real.counters.ungrouped).toBe(1);
  });

  it('are a single group without group-by fields', () => {
    const real = correlator([count(2, { 'group-by': [] })]);
    const some = at(1, 2).map((one) => ({ ...one, group: [] }));
    expect(real.take(some, later).map(({ group }) => group)).toEqual([[]]);
  });

  it('may have any value, including hostile values', () => {
    const long = 'x'.repeat(1_000_000);
    const values = ['__proto__', 'constructor', 'toString', '', '\u0000', '\ud800', long, `${long}y`];
    const real = correlator([count(2)]);
    const once = values.map((value, i) => ({ ...at(i / 10)[0]!, group: [value], carried: [] }));
    expect(real.take(once, later)).toEqual([]);
    const fired = real.take(once, later);
    expect(fired.map(({ group }) => group[0]!.value).slice(0, 6)).toEqual(values.slice(0, 6));
    expect(fired).toHaveLength(values.length);
    expect(fired.every(({ group }) => group[0]!.value!.length <= correlationLimits.valueLength)).toBe(true);
    expect(JSON.stringify(real.state()).length).toBeLessThan(10_000);
  });
});

it.each([365 * 86_400, -365 * 86_400])('a correlation counts again after a clock jump of %d s is corrected', (leap) => {
  const real = correlator([count(3)]);
  expect(real.take(at(0, 1), now + 2000)).toEqual([]);
  real.take(at(leap, leap + 1), now + (leap + 2) * 1000);
  expect(times(real.take(at(20, 21, 22), now + 23_000))).toEqual([['begins', 22]]);
  expect(real.counters.late).toBe(0);
});

describe('values', () => {
  it('that are missing or not numbers are counted separately', () => {
    const document = correlation('sum', {
      type: 'value_sum',
      rules: ['aa'],
      condition: { field: 'bytes', gt: 10 },
    });
    const real = correlator([document]);
    const of = (value: string | null, i: number) => input('sum', 'aa', i, { value });
    const fired = real.take([null, '', 'many', 'NaN', 'Infinity', '0x5', '6.5'].map(of), later);
    expect(fired.map(({ value, count }) => [value, count])).toEqual([[11.5, 2]]);
    expect(real.counters.valueless).toBe(5);
  });

  it('that are rare in the group trigger value_percentile without a percentile', () => {
    const document = correlation('rare', {
      type: 'value_percentile',
      rules: ['aa'],
      timespan: '24h',
      condition: { field: 'image', lte: 1 },
    });
    const real = correlator([document]);
    const usual = Array.from({ length: 99 }, (_, i) => input('rare', 'aa', i, { value: `usual${i % 3}` }));
    expect(real.take(usual, later)).toEqual([]);
    expect(real.take([input('rare', 'aa', 100, { value: 'odd' })], later)).toMatchObject([{ value: 1, count: 100 }]);
  });

  it('have the same sum when there are too many to keep individually', () => {
    const section = { rules: ['aa'], timespan: '1h' };
    const documents = [
      correlation('sum', { ...section, type: 'value_sum', condition: { field: 'x', gte: 99_999 } }),
      correlation('average', { ...section, type: 'value_avg', condition: { field: 'x', gt: 9.9 } }),
      correlation('exactly', { ...section, type: 'event_count', condition: { eq: 99_999 } }),
    ];
    const real = correlator(documents);
    const some = documents.map(({ title }) =>
      real.take(
        Array.from({ length: 99_999 }, (_, i) => input(title, 'aa', i / 100, { value: '1' })),
        later,
      ),
    );
    expect(some.map((fired) => fired.map(({ value }) => value))).toEqual([[99_999], [], [99_999]]);
    expect(real.state().correlations.every(({ groups }) => groups[0]!.times.length <= correlationLimits.entries)).toBe(
      true,
    );
  });

  it('that are repeated do not evict other values', () => {
    const document = correlation('ports', {
      type: 'value_count',
      rules: ['aa'],
      timespan: '1h',
      condition: { field: 'port', gte: 20 },
    });
    const real = correlator([document]);
    const ports = Array.from({ length: 20 }, (_, i) => i * 10_000);
    const some = Array.from({ length: 200_000 }, (_, i) =>
      input('ports', 'aa', i / 100, { value: String(ports.includes(i) ? i : 443) }),
    );
    expect(real.take(some, later)).toMatchObject([{ count: 200_000, value: 21, atLeast: false }]);
  });
});

describe('temporal correlations', () => {
  const pair = (type: string, more = {}) => correlation('pair', { type, rules: ['aa', 'bb'], ...more });
  const of = (...some: [string, number][]) => some.map(([rule, seconds]) => input('pair', rule, seconds));

  it('need all rules within the timespan, and temporal_ordered in their order', () => {
    expect(times(correlator([pair('temporal')]).take(of(['bb', 1], ['aa', 2]), later))).toEqual([['begins', 2]]);
    expect(times(correlator([pair('temporal')]).take(of(['bb', 1], ['aa', 12]), later))).toEqual([]);
    expect(times(correlator([pair('temporal_ordered')]).take(of(['bb', 1], ['aa', 2]), later))).toEqual([]);
    expect(times(correlator([pair('temporal_ordered')]).take(of(['aa', 1], ['bb', 2]), later))).toEqual([
      ['begins', 2],
    ]);
  });

  it('do not treat inputs with equal times as ordered', () => {
    expect(times(correlator([pair('temporal_ordered')]).take(of(['aa', 1], ['bb', 1]), later))).toEqual([]);
  });

  it('look back for inputs that must be absent', () => {
    const document = pair('temporal', { condition: 'aa and not bb' });
    expect(times(correlator([document]).take(of(['bb', 1], ['aa', 2]), later))).toEqual([]);
    expect(times(correlator([document]).take(of(['aa', 2], ['bb', 3]), later))).toEqual([['begins', 2]]);
    expect(times(correlator([document]).take(of(['bb', 1], ['aa', 11.5]), later))).toEqual([['begins', 11.5]]);
  });

  it.each(['temporal', 'temporal_ordered'])('%s: a flood of one rule does not hide other rules', (type) => {
    const real = correlator([pair(type)]);
    const flood = Array.from({ length: 5000 }, (_, i): [string, number] => ['aa', 1 + i / 1000]);
    expect(times(real.take(of(['bb', 0.5], ...flood, ['bb', 7]), later))).toEqual([['begins', 7]]);
  });

  it('detect many failures, then a success of the same user, as in the specification', () => {
    const documents = [
      correlation('broken_in', {
        type: 'temporal_ordered',
        rules: ['failing', 'success'],
        'group-by': ['user'],
      }),
      correlation('failing', {
        type: 'event_count',
        rules: ['failure'],
        'group-by': ['computer'],
        condition: { gte: 10 },
      }),
    ];
    const real = correlator(documents);
    const failure = (seconds: number): CorrelationInput =>
      input('failing', 'failure', seconds, { group: ['pc'], carried: ['mallory'], event: `f${seconds}` });
    const success = (seconds: number) => input('broken_in', 'success', seconds, { group: ['mallory'], event: 's' });
    const tries = Array.from({ length: 30 }, (_, i) => failure(i));
    expect(real.take([...tries.slice(0, 9), success(8.5)], later)).toEqual([]);
    // The failures last longer than the timespan: their count at the time of the success matters.
    const fired = real.take([...tries.slice(9), success(29.5)], later);
    expect(fired).toMatchObject([{ correlation: 'broken_in', how: 'begins', timestamp: now + 29_500 }]);
    expect(fired[0]!.group).toEqual([{ field: 'user', value: 'mallory' }]);
    expect(fired[0]!.events.at(-1)).toBe('s');
  });

  it('are not the only correlations over correlations: value_count counts each inner episode once', () => {
    const documents = [
      correlation('hosts', {
        type: 'value_count',
        rules: ['many'],
        'group-by': [],
        condition: { field: 'host', gte: 3 },
      }),
      count(2, { generate: true }),
    ];
    const real = correlator(documents);
    const of = (group: string, ...seconds: number[]) => at(...seconds).map((one) => ({ ...one, group: [group] }));
    expect(real.take([...of('a', 0, 1, 2, 3), ...of('b', 1, 2, 3, 4), ...of('c', 5)], later)).toEqual([]);
    expect(real.take(of('c', 6), later)).toMatchObject([{ correlation: 'hosts', value: 3, count: 3 }]);
  });
});

describe('memory', () => {
  it('is used for the groups with the latest inputs, and evicted groups are counted', () => {
    const real = correlator([count(2)], { groups: 100 });
    const of = (i: number, seconds: number) => ({ ...at(seconds)[0]!, group: [`g${i}`] });
    const flood = Array.from({ length: 1000 }, (_, i) => of(i, 1));
    real.take(flood, later);
    expect([real.size, real.counters.forgotten]).toEqual([100, 900]);
    expect(real.take([of(999, 2), of(0, 2)], later)).toMatchObject([{ group: [{ value: 'g999' }] }]);
  });

  it('is released by groups whose inputs no longer count', () => {
    const real = correlator([count(2)]);
    real.take(
      Array.from({ length: 1000 }, (_, i) => ({ ...at(1)[0]!, group: [`g${i}`] })),
      later,
    );
    real.take(at(21.001), later);
    expect([real.size, real.counters.forgotten]).toEqual([1, 0]);
  });

  it('that is scarce is used for inputs that conditions need', () => {
    const real = correlator([count(3)], { units: 4000 });
    const of = (group: string, n: number) =>
      Array.from({ length: n }, (_, i) => ({ ...at(i / 1000)[0]!, group: [group] }));
    real.take([...of('few', 2), ...of('many', 3000)], later);
    expect(real.counters.forgotten).toBe(0);
    expect(times(real.take([{ ...at(3)[0]!, group: ['few'] }], later))).toEqual([['begins', 3]]);
    real.take([{ ...at(3)[0]!, group: ['many'] }], later);
    expect(real.refresh()).toMatchObject([{ count: 3001, atLeast: true }]);
  });

  it('is limited over all correlations, and freed in the correlation with the largest share', () => {
    const documents = [count(50), correlation('few', { type: 'event_count', rules: ['aa'], condition: { gte: 2 } })];
    const real = correlator(documents, { units: 5000 });
    real.take([input('few', 'aa', 0)], later);
    real.take(
      Array.from({ length: 5000 }, (_, i) => ({ ...at(1 + i / 1000)[0]!, group: [`g${i % 500}`] })),
      later,
    );
    expect(real.counters.forgotten).toBeGreaterThan(300);
    expect(real.size).toBeLessThan(5000 / 32);
    expect(real.take([input('few', 'aa', 1)], later)).toHaveLength(1);
  });
});

describe('state', () => {
  it('survives msgpack', () => {
    const real = correlator([count(3)]);
    real.take(at(1, 2), later);
    const packr = new Packr();
    const restarted = correlator([count(3)]);
    restarted.restore(packr.unpack(packr.pack(real.state())));
    expect(times(restarted.take(at(3), later))).toEqual([['begins', 3]]);
  });

  it('is kept for unchanged correlations', () => {
    const other = (gte: number) => correlation('other', { type: 'event_count', rules: ['bb'], condition: { gte } });
    const real = correlator([count(3), other(3)]);
    real.take([...at(1, 2), input('other', 'bb', 1), input('other', 'bb', 2)], later);
    const changed = correlator([count(3, { generate: true }), other(2)]);
    expect(changed.restore(real.state())).toEqual({ kept: 1, dropped: 1 });
    const fired = changed.take([...at(3), input('other', 'bb', 3)], later);
    expect(fired.map((one) => one.correlation)).toEqual(['many']);
  });

  it('of version 1 continues without repeating reports', () => {
    const group = {
      values: ['h'],
      times: [0, 1, 2, 3, 12].map((second) => now + second * 1000),
      counted: [0, 0, 0, 0, 0],
      weights: null,
      touched: now + 12_000,
      seen: [now + 12_000],
      samples: [{ time: now, rule: 0, event: 'sensor e0' }],
      ends: { src_ip: '10.0.0.1' },
      carried: [],
      episode: { at: now + 2000, first: now, count: 5, next: 6, former: [] },
    };
    const { correlations } = correlator([count(3)]).state();
    const state = {
      version: 1,
      correlations: [{ ...correlations[0]!, clock: group.touched, groups: [group] }],
    };
    const real = correlator([count(3)]);
    expect(real.restore(state)).toEqual({ kept: 1, dropped: 0 });
    expect([real.growing, real.take([], later)]).toEqual([0, []]);
    const more = at(13).map((one) => ({ ...one, event: 'other e1', ends: { src_ip: '10.0.0.1', x: 1 } }));
    expect(real.take(more, later)).toEqual([]);
    expect(real.refresh()).toMatchObject([
      {
        how: 'grows',
        firstTimestamp: now,
        timestamp: now + 13_000,
        count: 6,
        value: 4,
        ends: { src_ip: '10.0.0.1' },
        senders: ['sensor', 'other'],
      },
    ]);
    expect(times(real.take(at(60, 61, 62), later))).toEqual([['begins', 62]]);
  });

  it('of another version is discarded', () => {
    const real = correlator([count(3)]);
    real.take(at(1, 2), later);
    expect(correlator([count(3)]).restore({ ...real.state(), version: 0 })).toEqual({ kept: 0, dropped: 1 });
  });
});

it('inputs of unknown correlations or rules, or with a wrong number of group values, are counted', () => {
  const real = new Correlator(linked(count(2)).correlations);
  const strange = [input('gone', 'aa', 1), input('many', 'bb', 1), { ...at(1)[0]!, group: ['a', 'b'] }];
  expect(real.take(strange, later)).toEqual([]);
  expect(real.counters.unknown).toBe(3);
});
