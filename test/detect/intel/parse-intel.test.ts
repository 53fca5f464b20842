import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { intelFormats } from '../../../src/contract/vocabulary.ts';
import { expiredBy, expiryTimesOf } from '../../../src/detect/intel/expiry-times.ts';
import { IntelIndex } from '../../../src/detect/intel/intel-index.ts';
import { formatOf, type ParsedIntel, parseIntel } from '../../../src/detect/intel/parse-intel.ts';
import { limits } from '../../../src/limits.ts';
import { addressRanges } from '../../../src/net/ip.ts';

const home = ['10.0.0.0/8', '192.168.0.0/16', 'fc00::/7'].flatMap((block) => addressRanges(block)!);
const terms = { home, seed: 0x9e3779b9 };

function parsed(content: unknown): ParsedIntel {
  const result = parseIntel(content, formatOf(content), terms);
  if ('fault' in result) throw new Error(result.fault);
  return result;
}

function textsOf({ index }: ParsedIntel): string[] {
  const opened = new IntelIndex(index);
  return Array.from({ length: opened.size }, (_, place) => opened.at(place).text);
}

const rejectedOf = (content: unknown) => parsed(content).rejected.map(({ reason }) => reason);
const indicator = (pattern: string, more: object = {}) => ({
  type: 'indicator',
  pattern,
  pattern_type: 'stix',
  ...more,
});
const bundle = (...objects: unknown[]) => ({ type: 'bundle', id: 'bundle--1', objects });

describe('plain lines', () => {
  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['198.51.100.7:8080', '198.51.100.7'],
    ['198.51.100.99/24', '198.51.100.0/24'],
    ['198.51.100.7/32', '198.51.100.7'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['Bad.Example.', 'bad.example'],
    ['*.bad.example', 'bad.example'],
    ['.bad.example', 'bad.example'],
    ['||bad.example^', 'bad.example'],
    ['bad.example:8443', 'bad.example'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['bad[.]example', 'bad.example'],
    ['bad(dot)example', 'bad.example'],
    ['198[.]51[.]100[.]7', '198.51.100.7'],
    ['hxxps://evil[.]bad[.]example/a/b?c=d', 'evil.bad.example'],
    ['http[:]//user:pw@198.51.100.7:81/x', '198.51.100.7'],
    ['http://[2001:db8::2]/x', '2001:db8::2'],
    ['bad.example/path', 'bad.example'],
    ['0.0.0.0 bad.example', 'bad.example'],
    ['127.0.0.1\tbad.example # of a hosts file', 'bad.example'],
    ['1.10.16.0/20 ; SBL256894', '1.10.16.0/20'],
    ['"bad.example"', 'bad.example'],
    ['\ufeffbad.example\r', 'bad.example'],
  ])('with %s have the indicator %s', (line, text) => {
    const list = parsed(line);
    expect(list.rejected).toEqual([]);
    expect(textsOf(list)).toEqual([text]);
  });

  test.each(['', '# bad.example', '; bad.example', '   ', '! of an ad blocker', '\t# x'])(
    'with %j have no indicators',
    (line) => {
      expect(parsed(line)).toMatchObject({ indicators: 0, rejectedTotal: 0 });
    },
  );

  test.each([
    ['0.0.0.0/0', /too much/],
    ['198.0.0.0/7', /too much/],
    ['2000::/3', /too much/],
    ['::/0', /too much/],
    ['com', /single label/],
    ['localhost', /single label/],
    ['co.uk', /public suffix/],
    ['github.io', /public suffix/],
    ['10.1.2.3', /home/],
    ['192.168.0.0/24', /home/],
    ['192.0.0.0/8', /home/],
    ['fd00::1', /home/],
    ['127.0.0.1', /host/],
    ['0.0.0.0', /host/],
    ['224.0.0.0/8', /host/],
    ['::1', /host/],
    ['255.255.255.255', /host/],
    ['d41d8cd98f00b204e9800998ecf8427e', /single label/],
    ['not a value', /more than one/],
    ['bad_.exa mple', /more than one/],
    ['bad!.example', /not an address/],
    ['http://', /without a host/],
    ['198.51.100.999', /not an address/],
    ['bad.example,soon', /ISO 8601/],
  ])('with %s are rejected with the reason', (line, reason) => {
    const list = parsed(`good.example\n${line}`);
    expect(textsOf(list)).toEqual(['good.example']);
    expect(list.rejected).toEqual([{ line: 2, value: line, reason: expect.stringMatching(reason) }]);
  });

  test('have the expiry in a second column', () => {
    const list = parsed(
      'bad.example,2027-01-01\n198.51.100.7 , "2027-01-01T12:00:00Z"\nhttp://a.example/x,y,2026-12-01\nb.example,',
    );
    const index = new IntelIndex(list.index);
    const ends = Array.from({ length: index.size }, (_, n) => [index.at(n).text, index.at(n).until]);
    expect(ends).toEqual([
      ['198.51.100.7', Date.UTC(2027, 0, 1, 12)],
      ['a.example', Date.UTC(2026, 11, 1)],
      ['b.example', undefined],
      ['bad.example', Date.UTC(2027, 0, 1)],
    ]);
    expect([list.endless, list.ends.counts]).toEqual([1, [1, 1, 1]]);
  });

  test('with a repeated value result in one indicator with the latest expiry', () => {
    const list = parsed('bad.example,2027-01-01\nbad.example,2026-01-01\nx.example,2026-01-01\nX.example');
    const index = new IntelIndex(list.index);
    expect([0, 1].map((n) => index.at(n).until)).toEqual([Date.UTC(2027, 0, 1), undefined]);
    expect(list.indicators).toBe(2);
  });

  test('are reported if rejected: at most the first hundred, and the total', () => {
    const list = parsed(Array.from({ length: 250 }, (_, n) => `junk${n}`).join('\n'));
    expect([list.rejected.length, list.rejectedTotal]).toEqual([limits.maxIntelRejected, 250]);
    expect(list.rejected.at(-1)).toMatchObject({ line: 100, value: 'junk99' });
  });
});

describe('STIX', () => {
  test('yields values of all kinds with times, confidence and name', () => {
    const list = parsed(
      bundle(
        { type: 'identity', name: 'somebody' },
        indicator("[ipv4-addr:value = '198.51.100.1']", {
          valid_from: '2026-01-01T00:00:00Z',
          valid_until: '2026-06-01T00:00:00.000Z',
          confidence: 80,
          name: 'C2 of a botnet',
        }),
        indicator("[ipv6-addr:value='2001:db8::9' OR domain-name:value = 'Bad.Example']", {
          labels: ['malware', 'c2'],
        }),
        indicator("[url:value = 'https://c.example/x'] OR [domain-name:value IN ('d.example', 'e.example')]"),
        indicator("[(ipv4-addr:value ISSUBSET '203.0.113.0/24')]"),
        indicator("[domain-name:value = 'gone.example']", { revoked: true }),
      ),
    );
    expect(list.rejected).toEqual([]);
    const index = new IntelIndex(list.index);
    const found = Array.from({ length: index.size }, (_, n) => index.at(n));
    expect(found.map(({ text }) => text)).toEqual([
      '198.51.100.1',
      '203.0.113.0/24',
      '2001:db8::9',
      'bad.example',
      'c.example',
      'd.example',
      'e.example',
    ]);
    expect(found[0]).toMatchObject({
      from: Date.UTC(2026, 0, 1),
      until: Date.UTC(2026, 5, 1),
      confidence: 80,
      label: 'C2 of a botnet',
    });
    expect(found[3]).toMatchObject({ label: 'malware, c2', confidence: undefined, exact: false });
    expect(found[4]).toMatchObject({ exact: true });
  });

  test.each([
    [indicator("[file:hashes.'SHA-256' = 'aa']"), /file:hashes.SHA-256/],
    [indicator("[domain-name:value = 'a.example' AND ipv4-addr:value = '198.51.100.1']"), /AND/],
    [indicator("[domain-name:value = 'a.example'] FOLLOWEDBY [url:value = 'http://b.example']"), /FOLLOWEDBY/],
    [indicator("[domain-name:value = 'a.example'] WITHIN 5 SECONDS"), /WITHIN/],
    [indicator("[domain-name:value LIKE '%.example']"), /LIKE/],
    [indicator("[domain-name:value != 'a.example']"), /!=/],
    [indicator("[domain-name:value = 'a.example'"), /not a valid STIX pattern/],
    [indicator("([domain-name:value = 'a.example'])"), /groups observations/],
    [indicator("[domain-name:value = 'a.example' (url:value = 'b')]"), /not a valid STIX pattern/],
    [indicator("[domain-name:value = 'a.example'] ([url:value = 'b'])"), /not a valid STIX pattern/],
    [indicator('[domain-name:value'), /not a valid STIX pattern/],
    [indicator('[domain-name:value]'), /not a valid STIX pattern/],
    [indicator("[domain-name:value 'a.example']"), /not a valid STIX pattern/],
    [indicator("[network-traffic:protocols[0] = 'dns']"), /an index in a path/],
    [indicator("[file:extensions.'pe'.sections = 'a']"), /a key in a path/],
    [indicator('nonsense'), /nonsense/],
    [indicator("[domain-name:value = 'unended]"), /not a valid STIX pattern/],
    [indicator(''), /not a valid STIX pattern/],
    [{ type: 'indicator' }, /no pattern/],
    [indicator('rule x {}', { pattern_type: 'yara' }), /yara/],
    [indicator("[domain-name:value = 'a.example']", { valid_until: 'soon' }), /valid_until/],
    [indicator("[ipv4-addr:value = '10.0.0.1']"), /home/],
  ])('has a reason for rejecting %j', (object, reason) => {
    expect(rejectedOf(bundle(object))).toEqual([expect.stringMatching(reason)]);
    expect(parsed(bundle(object)).rejected[0]).toMatchObject({ object: 0 });
  });

  test('yields the supported parts of an OR that also has an unsupported part', () => {
    const list = parsed(bundle(indicator("[file:hashes.MD5 = 'aa' OR domain-name:value = 'a.example']")));
    expect(textsOf(list)).toEqual(['a.example']);
    expect(list.rejectedTotal).toBe(1);
  });

  test('gives the same result as text and as an object; other JSON is rejected completely', () => {
    const objects = bundle(indicator("[domain-name:value = 'a.example']"));
    expect(textsOf(parsed(JSON.stringify(objects)))).toEqual(['a.example']);
    for (const other of [{}, [], 7, null, '{', '{"objects": 3}'])
      expect(parseIntel(other, 'stix', terms), JSON.stringify(other)).toHaveProperty('fault');
    expect(parseIntel(objects, 'lines', terms)).toHaveProperty('fault');
  });
});

test('a list with too many indicators is rejected completely', () => {
  const lines = Array.from({ length: limits.maxIntelIndicatorsPerList + 1 }, (_, n) => `n${n}.example`).join('\n');
  expect(parseIntel(lines, 'lines', terms)).toEqual({
    fault: expect.stringMatching(/has more than \d+ indicators/),
  });
});

describe('parsing does not throw', () => {
  const piece = fc.oneof(
    fc.constantFrom('198.51.100.7', '/24', ',', ' ', '#', '\n', '[', ']', "'", '://', 'hxxp', ':', '::', '.', '(', ')'),
    fc.constantFrom('OR', 'IN', '=', 'domain-name:value', 'bad.example', '\\', '||', '^', '@', '2027-01-01', '\0'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join(''));

  test('for any text', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...intelFormats), (content, format) => {
        parseIntel(content, format, terms);
      }),
      { numRuns: 500 },
    );
  });

  test('for any object', () => {
    const value = fc.oneof(text, fc.jsonValue(), fc.constantFrom('indicator', 'stix', '2026-01-01T00:00:00Z', 50));
    const object = fc.dictionary(
      fc.constantFrom('type', 'pattern', 'pattern_type', 'valid_from', 'valid_until', 'name', 'labels', 'confidence'),
      value,
    );
    const pattern = fc.record({ type: fc.constant('indicator'), pattern: text });
    const objects = fc.array(fc.oneof(object, pattern, fc.jsonValue()));
    fc.assert(
      fc.property(objects, (list) => {
        parseIntel({ objects: list }, 'stix', terms);
      }),
      { numRuns: 300 },
    );
  });
});

test('the expiry of indicators is exact to the second, and coarser if there are many distinct expiries', () => {
  const start = Date.UTC(2026, 0, 1);
  const few = expiryTimesOf([start, start, start + 1000]);
  expect([-1, 0, 999, 1000].map((ms) => expiredBy(few, start + ms))).toEqual([0, 2, 2, 3]);
  const many = expiryTimesOf(Array.from({ length: 2 * limits.maxIntelEnds }, (_, n) => start + n * 60_000));
  expect(many.seconds.length).toBeLessThanOrEqual(limits.maxIntelEnds);
  expect(expiredBy(many, start + 3_600_000)).toBe(61);
  expect(many.counts.reduce((sum, count) => sum + count, 0)).toBe(2 * limits.maxIntelEnds);
});

describe('input that is designed to take long', () => {
  test('is rejected if it has more values than allowed, including invalid values', () => {
    // Half of the lines are invalid, and half of the lines repeat one value.
    const lines = '?\nn.example\n'.repeat(limits.maxIntelValuesPerList / 2);
    expect(parseIntel(`${lines}?\n`, 'lines', terms)).toEqual({
      fault: expect.stringContaining(`more than ${limits.maxIntelValuesPerList} values`),
    });
  });

  test.each([
    ['one value without an end', 'a'.repeat(3_000_000)],
    ['one line of many names', `0.0.0.0 ${'n.example '.repeat(300_000)}`],
    ['dots in brackets', '[.]'.repeat(1_000_000)],
    ['one value of STIX', bundle(indicator(`[url:value = '${'[.]'.repeat(80_000)}']`))],
    ['a pattern without an end', bundle(indicator(`[${"domain-name:value = 'a.example' OR ".repeat(100_000)}`))],
    [
      'a comparison with a million values',
      bundle(indicator(`[domain-name:value IN (${"'a.example',".repeat(1_000_000)}'b.example')]`)),
    ],
  ])('is rejected as too long: %s', (_, content) => {
    expect(rejectedOf(content)).toEqual([expect.stringMatching(/longer than \d+ characters/)]);
  });

  test('with a path of many segments is read only up to the limit for paths', () => {
    const path = `file:hashes.${"'.'".repeat(80_000)}`;
    expect(rejectedOf(bundle(indicator(`[${path} = 'x']`)))).toEqual(['is not a valid STIX pattern']);
  });
});
