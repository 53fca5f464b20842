import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Indicator } from '../../../src/detect/intel/indicator.ts';
import { encodeIndicators, IntelIndex } from '../../../src/detect/intel/intel-index.ts';
import { IntelMatcher, type MatchedList } from '../../../src/detect/intel/intel-matcher.ts';
import { parseIntel } from '../../../src/detect/intel/parse-intel.ts';
import { addressBytes, addressRanges, compareAddress, printAddress, printIpv4 } from '../../../src/net/ip.ts';

const at = Date.UTC(2026, 10, 20);
const day = 86_400_000;

function indexOf(content: unknown, seed = 7): IntelIndex {
  const parsed = parseIntel(content, typeof content === 'string' ? 'lines' : 'stix', { home: [], seed });
  if ('fault' in parsed) throw new Error(parsed.fault);
  return new IntelIndex(parsed.index);
}

const listOf = (id: string, content: unknown, more: Partial<MatchedList> = {}): MatchedList => ({
  id,
  name: `list ${id}`,
  severity: 'high',
  index: indexOf(content),
  ...more,
});

function matching(...lists: MatchedList[]) {
  const clock = { now: at };
  const matcher = new IntelMatcher(() => clock.now);
  for (const list of lists) matcher.use(list);
  return { matcher, clock };
}

describe('a list', () => {
  const content =
    '198.51.100.7\n203.0.113.0/24\n2001:db8::5\n2001:db8:1::/48\nbad.example\nhttp://host.example/evil.exe';
  const { matcher } = matching(listOf('a', content));

  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['203.0.113.200', '203.0.113.0/24'],
    ['2001:0db8::0005', '2001:db8::5'],
    ['2001:db8:1:2::3', '2001:db8:1::/48'],
    ['198.51.100.8', undefined],
    ['203.0.114.0', undefined],
    ['2001:db8::6', undefined],
    ['2001:db8:2::', undefined],
    ['no address', undefined],
  ])('matches %s by the indicator %s (undefined: no match)', (address, indicator) => {
    expect(matcher.addressHit(address, at)?.indicator).toBe(indicator);
  });

  test.each([
    ['bad.example', 'bad.example'],
    ['BAD.example.', 'bad.example'],
    ['a.b.bad.example', 'bad.example'],
    ['notbad.example', undefined],
    ['example', undefined],
    ['bad.example.org', undefined],
    ['host.example', 'host.example'],
    ['www.host.example', undefined],
    ['', undefined],
    ['.', undefined],
  ])('matches the name %s by the indicator %s (undefined: no match)', (name, indicator) => {
    expect(matcher.domainHit(name, at)?.indicator).toBe(indicator);
  });

  test('does not match a value that is longer than any valid name', () => {
    expect(matcher.domainHit(`${'a.'.repeat(2000)}bad.example`, at)).toBeUndefined();
  });

  test('marks a match of a host if the list names only a page (URL) of that host', () => {
    expect(matcher.domainHit('host.example', at)?.page).toBe(true);
    expect(matcher.domainHit('bad.example', at)?.page).toBe(false);
  });
});

describe('time', () => {
  const stix = {
    objects: [
      {
        type: 'indicator',
        pattern: "[domain-name:value = 'timed.example']",
        valid_from: new Date(at).toISOString(),
        valid_until: new Date(at + day).toISOString(),
        confidence: 40,
      },
      { type: 'indicator', pattern: "[domain-name:value = 'endless.example']" },
    ],
  };

  test("an indicator's validity is checked at event time, not at evaluation time", () => {
    const { matcher, clock } = matching(listOf('a', stix, { until: at + 2 * day }));
    clock.now = at + 100 * day;
    const hit = (name: string, time: number) => matcher.domainHit(name, time)?.valid_until;
    expect(hit('timed.example', at)).toBe(at + day);
    expect(hit('timed.example', at + day - 1)).toBe(at + day);
    expect(hit('timed.example', at - 1)).toBeUndefined();
    expect(hit('timed.example', at + day)).toBeUndefined();
    expect(hit('endless.example', at - 100 * day)).toBe(at + 2 * day);
    expect(hit('endless.example', at + 2 * day)).toBeUndefined();
  });

  test('a list expires by the time of the host clock', () => {
    const { matcher, clock } = matching(listOf('a', 'bad.example', { expires: at + day }));
    expect(matcher.domainHit('bad.example', at + 10 * day)).toBeDefined();
    clock.now = at + day;
    expect(matcher.domainHit('bad.example', at)).toBeUndefined();
  });

  test('an expired indicator does not hide a broader indicator', () => {
    const { matcher } = matching(
      listOf('a', '198.51.100.7,2026-01-01\n198.51.100.0/24\nx.bad.example,2026-01-01\nbad.example'),
    );
    expect(matcher.addressHit('198.51.100.7', at)?.indicator).toBe('198.51.100.0/24');
    expect(matcher.domainHit('x.bad.example', at)?.indicator).toBe('bad.example');
  });
});

test('the most severe, then the most confident of several matching lists applies; removed and replaced lists do not apply', () => {
  const { matcher } = matching(
    listOf('a', 'bad.example', { severity: 'medium' }),
    listOf('b', 'bad.example', { confidence: 0.3 }),
    listOf('c', 'bad.example', { confidence: 0.9 }),
  );
  const { version } = matcher;
  expect(matcher.domainHit('bad.example', at)).toMatchObject({
    list_id: 'c',
    severity: 'high',
    confidence: 0.9,
  });
  matcher.drop('c');
  expect(matcher.domainHit('bad.example', at)?.list_id).toBe('b');
  matcher.use(listOf('b', 'other.example'));
  expect(matcher.domainHit('bad.example', at)?.list_id).toBe('a');
  expect(matcher.version).toBe(version + 2);
  matcher.drop('a');
  matcher.drop('b');
  expect([matcher.isEmpty, matcher.bytes]).toEqual([true, 0]);
});

describe('the index', () => {
  const v4 = fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((word) => word >>> 0);
  // Few distinct leading bits, so that blocks and addresses overlap.
  const near = fc
    .tuple(fc.constantFrom(0xc6336400, 0xc6330000, 0x01020304), fc.nat(0x1ff))
    .map(([base, more]) => base + more);
  const block = (text: string, prefix: number): Indicator => {
    const { first } = addressRanges(`${text}/${prefix}`)![0]!;
    const whole = text.includes(':') ? 128 : 32;
    return { kind: 'address', text: `${printAddress(first)}${prefix === whole ? '' : `/${prefix}`}` };
  };
  const ipv4 = fc
    .tuple(fc.oneof(near, v4), fc.integer({ min: 8, max: 32 }))
    .map(([word, prefix]) => block(printIpv4(word), prefix));
  const ipv6 = fc
    .tuple(
      fc.array(fc.constantFrom('0', '1', 'ffff', 'abcd'), { minLength: 7, maxLength: 7 }),
      fc.integer({ min: 16, max: 128 }),
    )
    .map(([groups, prefix]) => block(`2001:${groups.join(':')}`, prefix));
  const label = fc.constantFrom('a', 'b', 'bad', 'x-1', 'example');
  const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));
  const domain = fc.record({ kind: fc.constant('domain' as const), text: name, exact: fc.boolean() });
  const unique = (indicators: readonly Indicator[]) => [...new Map(indicators.map((one) => [one.text, one])).values()];

  test('finds the narrowest matching indicator, as a linear search over all indicators does', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(ipv4, ipv6, domain), { maxLength: 40 }),
        fc.array(fc.oneof(near, v4).map(printIpv4), { maxLength: 10 }),
        fc.array(name, { maxLength: 10 }),
        fc.integer(),
        (given, addresses, names, seed) => {
          const indicators = unique(given);
          const index = new IntelIndex(encodeIndicators(indicators, seed));
          expect(index.size).toBe(indicators.length);
          const listed = indicators.flatMap((one) => (one.kind === 'address' ? [one.text.split('/')[0]!] : []));
          for (const address of [...addresses, ...listed]) {
            const bytes = addressBytes(address)!;
            const covering = indicators.flatMap((one) => {
              if (one.kind !== 'address') return [];
              const { first, last } = addressRanges(one.text)![0]!;
              if (compareAddress(bytes, 0, first, 0) < 0 || compareAddress(bytes, 0, last, 0) > 0) return [];
              return [one.text];
            });
            const width = (text: string) => Number(text.split('/')[1] ?? 999);
            const narrowest = covering.sort((a, b) => width(b) - width(a))[0];
            const place = address.includes(':')
              ? index.findIpv6(bytes, () => true)
              : index.findIpv4(
                  bytes.slice(12).reduce((word, byte) => word * 256 + byte, 0),
                  () => true,
                );
            expect(place < 0 ? undefined : index.at(place).text).toBe(narrowest);
          }
          for (const asked of [
            ...names,
            ...indicators.filter(({ kind }) => kind === 'domain').map(({ text }) => text),
          ]) {
            const covering = indicators.filter(
              (one) => one.kind === 'domain' && (one.text === asked || (!one.exact && asked.endsWith(`.${one.text}`))),
            );
            const narrowest = covering.sort((a, b) => b.text.length - a.text.length)[0]?.text;
            const place = index.findName(asked, () => true);
            expect(place < 0 ? undefined : index.at(place).text).toBe(narrowest);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test('is rejected if truncated or of another version', () => {
    const buffer = encodeIndicators([{ kind: 'domain', text: 'bad.example', exact: false }], 1);
    expect(() => new IntelIndex(buffer.slice(0, -1))).toThrow(/is not an indicator index/);
    new Uint32Array(buffer, 0, 1)[0] = 2;
    expect(() => new IntelIndex(buffer)).toThrow(/is not an indicator index/);
  });
});
