import { describe, expect, it } from 'vitest';
import { correlationLimits } from '../../../../src/detect/sigma/correlation/correlation-limits.ts';
import { linkCorrelations } from '../../../../src/detect/sigma/correlation/link-correlations.ts';
import { correlation, linked, rule } from './given.ts';

const counting = (name: string, rules: readonly string[], more = {}) =>
  correlation(name, { type: 'event_count', rules, condition: { gte: 2 }, ...more });
const keys = (items: Iterable<{ name?: string }>) => [...items].map(({ name }) => name);
const reasons = (result: ReturnType<typeof linkCorrelations>) =>
  Object.fromEntries(
    result.refused.map(({ document, problems }) => [document.name, problems.map((one) => one.reason)]),
  );

describe('names in a correlation', () => {
  it('refer to a rule by its id or by its name', () => {
    const id = '5638f7c0-ac70-491d-8465-2a65075e0d86';
    const result = linkCorrelations([rule('alpha', { id }), rule('beta')], [counting('both', [id, 'beta'])]);
    expect(result.correlations.map((one) => one.rules)).toEqual([[id, 'beta']]);
    expect(keys(result.feeds.keys())).toEqual(['alpha', 'beta']);
  });

  it('that are unknown, ambiguous or name one rule twice cause only this correlation to be rejected', () => {
    const rules = [rule('alpha', { id: 'first' }), rule('twin'), rule('other', { id: 'twin' })];
    const result = linkCorrelations(rules, [
      counting('good', ['alpha']),
      counting('unknown', ['nobody']),
      counting('ambiguous', ['twin']),
      counting('twice', ['alpha', 'first']),
    ]);
    expect(keys(result.correlations.map((one) => one.document))).toEqual(['good']);
    expect(reasons(result)).toEqual({
      unknown: [expect.stringContaining('not the id or name of a rule')],
      ambiguous: [expect.stringContaining('2 rules')],
      twice: [expect.stringContaining('already in the list')],
    });
    expect(result.refused[0]!.problems[0]).toMatchObject({ line: 7, field: 'correlation.rules[0]' });
  });

  it('of rejected rules cause the correlation and its outer correlations to be rejected for the same reason', () => {
    const broken = rule('broken');
    const problem = { line: 3, field: 'detection', reason: 'no such modifier' };
    const documents = [counting('outer', ['inner']), counting('inner', ['broken'])];
    const result = linkCorrelations([broken], documents, new Map([[broken, problem]]));
    expect(result.correlations).toEqual([]);
    expect(reasons(result)).toEqual({
      inner: ["'broken' does not run: no such modifier"],
      outer: ["'inner' does not run: 'broken' does not run: no such modifier"],
    });
  });

  it('that form a cycle are reported with the cycle', () => {
    const result = linkCorrelations(
      [rule('alpha')],
      [
        counting('self', ['self']),
        counting('one', ['two']),
        counting('two', ['three', 'alpha']),
        counting('three', ['one']),
        counting('beside', ['one']),
        counting('good', ['alpha']),
      ],
    );
    expect(keys(result.correlations.map((one) => one.document))).toEqual(['good']);
    expect(reasons(result)).toEqual({
      self: ["names itself: 'self' → 'self'"],
      one: ["names itself: 'one' → 'two' → 'three' → 'one'"],
      two: ["names itself: 'two' → 'three' → 'one' → 'two'"],
      three: ["names itself: 'three' → 'one' → 'two' → 'three'"],
      beside: [expect.stringContaining('cycle')],
    });
  });

  it('may refer to correlations, nested up to the limit', () => {
    const { depth } = correlationLimits;
    const chain = Array.from({ length: depth + 1 }, (_, i) => counting(`level_${i}`, [`level_${i - 1}`]));
    const result = linkCorrelations([rule('level_-1')], chain.toReversed());
    expect(keys(result.correlations.map((one) => one.document))).toEqual(keys(chain.slice(0, depth)));
    expect(keys(result.refused.map((one) => one.document))).toEqual([`level_${depth}`]);
  });

  it('shared by two correlations cause the second correlation to be rejected', () => {
    const documents = [counting('same', ['alpha']), counting('same', ['beta'])];
    const result = linkCorrelations([rule('alpha'), rule('beta')], documents);
    expect(result.correlations.map((one) => one.rules)).toEqual([['alpha']]);
    expect(reasons(result)).toEqual({ same: ["is 'same', which an earlier correlation already uses"] });
  });
});

describe('separate alerts', () => {
  it('are not raised by rules that a correlation names, unless configured', () => {
    const result = linked(
      counting('outer', ['inner', 'alpha']),
      counting('inner', ['beta', 'gamma']),
      counting('loud', ['gamma'], { generate: true }),
    );
    expect(keys(result.silent).toSorted()).toEqual(['alpha', 'beta', 'inner']);
    expect(result.correlations.map((one) => [one.key, one.raises])).toEqual([
      ['inner', false],
      ['loud', true],
      ['outer', true],
    ]);
  });

  it('are not suppressed by a rejected correlation', () => {
    const result = linkCorrelations([rule('alpha')], [counting('bad', ['alpha', 'nobody'])]);
    expect([...result.silent]).toEqual([]);
    expect([...result.feeds]).toEqual([]);
  });
});

describe('fields', () => {
  it('are mapped by aliases, for each rule by its name or id', () => {
    const id = '5638f7c0-ac70-491d-8465-2a65075e0d86';
    const document = correlation('pair', {
      type: 'value_count',
      rules: ['alpha', id],
      'group-by': ['peer', 'port'],
      condition: { field: 'who', gte: 2 },
      aliases: { peer: { alpha: 'destination.ip', beta: 'source.ip' }, who: { [id]: 'user.name' } },
    });
    const { feeds, refused } = linkCorrelations([rule('alpha'), rule('beta', { id })], [document]);
    expect(refused).toEqual([]);
    expect([...feeds.values()].flat()).toEqual([
      { correlation: 'pair', rule: 'alpha', group: ['destination.ip', 'port'], value: ['who'], carried: [] },
      { correlation: 'pair', rule: id, group: ['source.ip', 'port'], value: ['user.name'], carried: [] },
    ]);
  });

  it('in an alias for a rule outside the correlation cause the correlation to be rejected', () => {
    const document = counting('bad', ['alpha'], { aliases: { peer: { beta: 'x' } } });
    const result = linkCorrelations([rule('alpha'), rule('beta')], [document]);
    expect(result.refused[0]!.problems).toMatchObject([{ field: 'correlation.aliases.peer.beta' }]);
  });

  it('that an outer correlation needs pass through inner correlations that do not group by them', () => {
    const { feeds, correlations } = linked(
      correlation('top', { type: 'temporal', rules: ['middle', 'other'], 'group-by': ['who'] }),
      counting('middle', ['bottom'], { 'group-by': ['host'], aliases: { who: { bottom: 'user' } } }),
      counting('bottom', ['alpha'], { 'group-by': ['port'], aliases: { user: { alpha: 'user.name' } } }),
    );
    expect([...feeds.values()].flat()).toEqual([
      { correlation: 'bottom', rule: 'alpha', group: ['port'], value: [], carried: ['host', 'user.name'] },
      { correlation: 'top', rule: 'other', group: ['who'], value: [], carried: [] },
    ]);
    expect(correlations.map((one) => [one.key, one.carried, one.outer])).toEqual([
      [
        'bottom',
        ['host', 'user'],
        [
          {
            correlation: 'middle',
            group: [{ from: 'carried', index: 0 }],
            value: [],
            carried: [{ from: 'carried', index: 1 }],
            whileMet: false,
          },
        ],
      ],
      [
        'middle',
        ['who'],
        [
          {
            correlation: 'top',
            group: [{ from: 'carried', index: 0 }],
            value: [],
            carried: [],
            whileMet: true,
          },
        ],
      ],
      ['top', [], []],
    ]);
  });
});

describe('conditions over rules', () => {
  const alternatives = (section: object) =>
    linked(correlation('it', { type: 'temporal', rules: ['aa', 'bb', 'cc'], ...section })).correlations[0]!
      .alternatives;
  const required = (...required: number[]) => ({ required, forbidden: [] });

  it.each([
    [{}, [required(0, 1, 2)]],
    [{ condition: { gte: 2 } }, undefined],
    [{ type: 'temporal_ordered', condition: { gte: 2 } }, [required(0, 1), required(0, 2), required(1, 2)]],
    [{ type: 'temporal_ordered', condition: { eq: 3 } }, [required(0, 1, 2)]],
    [{ condition: 'cc and aa' }, [required(0, 2)]],
    [{ condition: 'all of them' }, [required(0, 1, 2)]],
    [{ condition: '1 of them' }, [required(0), required(1), required(2)]],
    [{ condition: 'aa and not (bb or cc)' }, [{ required: [0], forbidden: [1, 2] }]],
    [{ condition: 'aa and (bb or not aa)' }, [required(0, 1)]],
  ])('%j expand to %j', (section, expected) => {
    expect(alternatives(section)).toEqual(expected);
  });

  it.each([
    ['aa and dd', 'not a rule'],
    ['not aa', 'cannot be detected'],
    ['aa or not bb', 'cannot be detected'],
    ['aa and not aa', 'never'],
  ])('that cannot be used are rejected: %s (%s)', (condition, reason) => {
    const document = correlation('it', { type: 'temporal', rules: ['aa', 'bb'], condition });
    expect(reasons(linkCorrelations([rule('aa'), rule('bb')], [document]))).toEqual({
      it: [expect.stringContaining(reason)],
    });
  });

  it('that expand to too many alternatives are rejected', () => {
    const rules = Array.from({ length: 14 }, (_, i) => `rule_${i}`);
    const pairs = rules.flatMap((name, i) => (i % 2 === 0 ? [`(${name} or rule_${i + 1})`] : []));
    for (const [type, condition] of [
      ['temporal', pairs.join(' and ')],
      ['temporal_ordered', { gte: 7 }],
    ]) {
      const result = linkCorrelations(
        rules.map((name) => rule(name)),
        [correlation('it', { type, rules, condition })],
      );
      expect(reasons(result)).toEqual({ it: [expect.stringContaining('64')] });
    }
  });
});
