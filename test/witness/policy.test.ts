import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/sha256.ts';
import { limits } from '../../src/limits.ts';
import { formatVerifierKey, verifierKey } from '../../src/tlog/note.ts';
import { PolicyError, parsePolicy } from '../../src/witness/parse-policy.ts';
import { isQuorum, type Policy } from '../../src/witness/policy.ts';

/** Returns a separate key for each number; the policy does not check that the key is a point on the curve. */
function vkey(n: number, type = 4, name = `w${n}`): string {
  const raw = sha256(Uint8Array.of(n & 255, n >> 8));
  return formatVerifierKey(verifierKey(sha256, name, type, raw));
}

const parse = (text: string): Policy => parsePolicy(sha256, new TextEncoder().encode(text));

function faultOf(text: string | Uint8Array): string {
  try {
    parsePolicy(sha256, typeof text === 'string' ? new TextEncoder().encode(text) : text);
    return 'none';
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    expect(error.message.startsWith(`line ${error.line}: `)).toBe(error.line > 0);
    return `${error.fault} ${error.line}`;
  }
}

function met(policy: Policy, names: string): boolean {
  const all = new Set(names.split(' '));
  return isQuorum(policy, new Set(policy.witnesses.filter(({ name }) => all.has(name))));
}

const example = `# two organisations
log ${vkey(0, 1, 'example.org/log')} https://log.example.org/

witness X1 ${vkey(1)} https://x1.example.org/witness/
  witness\tX2  ${vkey(2)}
witness X3 ${vkey(3)}
group X-witnesses 2 X1 X2 X3
witness Y1 ${vkey(4)}
witness Y2 ${vkey(5)}
group Y-witnesses any Y1 Y2
group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
`;

describe('a policy', () => {
  test('has logs, witnesses with their URLs, and a quorum', () => {
    const { logs, witnesses, quorum } = parse(example);
    expect(logs.map(({ key, url }) => [key.name, url])).toEqual([['example.org/log', 'https://log.example.org']]);
    expect(witnesses.map(({ name, url }) => [name, url])).toEqual([
      ['X1', 'https://x1.example.org/witness'],
      ['X2', undefined],
      ['X3', undefined],
      ['Y1', undefined],
      ['Y2', undefined],
    ]);
    const members = (from: number, to: number) =>
      witnesses.slice(from, to).map((witness) => ({ kind: 'witness', witness }));
    expect(quorum).toEqual({
      kind: 'group',
      threshold: 2,
      members: [
        { kind: 'group', threshold: 2, members: members(0, 3) },
        { kind: 'group', threshold: 1, members: members(3, 5) },
      ],
    });
  });

  test.for([
    ['X1 X2 Y1', true],
    ['X2 X3 Y2', true],
    ['X1 X2 X3 Y1 Y2', true],
    ['X1 X2 X3', false],
    ['X1 Y1 Y2', false],
    ['', false],
  ] as const)('nested groups: %j is a quorum: %j', ([names, wanted]) => {
    expect(met(parse(example), names)).toBe(wanted);
  });

  test('the quorum may be a single witness, or none', () => {
    const single = parse(`witness a ${vkey(1)}\nwitness b ${vkey(2)}\nquorum b\n`);
    expect([met(single, 'a'), met(single, 'b')]).toEqual([false, true]);
    expect(met(parse('quorum none'), '')).toBe(true);
  });

  test('any requires 1 member, all requires n, and a number requires that many', () => {
    const names = ['a', 'b', 'c', 'd'];
    const lines = names.map((name, i) => `witness ${name} ${vkey(i)}\n`).join('');
    for (const [threshold, k] of [
      ['any', 1],
      ['all', 4],
      ['1', 1],
      ['3', 3],
      ['4', 4],
    ] as const) {
      const policy = parse(`${lines}group g ${threshold} a b c d\nquorum g\n`);
      for (let n = 0; n <= 4; n++) expect(met(policy, names.slice(0, n).join(' '))).toBe(n >= k);
    }
  });

  test('names are opaque octets, even if they are invalid UTF-8 or visually identical', () => {
    const kelvin = Buffer.from(`witness K ${vkey(1)}\nwitness \u212a ${vkey(2)}\nquorum \u212a\n`);
    expect(met(parsePolicy(sha256, kelvin), 'K')).toBe(false);
    const octets = Buffer.from(`witness \xff ${vkey(1)}\nwitness \xfe ${vkey(2)}\nquorum \xfe # no\n`, 'latin1');
    expect(faultOf(octets)).toBe('wrong_items 3');
    expect(faultOf(Buffer.from(`witness \xff ${vkey(1)}\n# \xe9\nquorum \xff\n`, 'latin1'))).toBe('none');
  });

  test('accepts the maximum number of logs, witnesses and groups, at least 32 as specified, and rejects more', () => {
    const most = limits.maxPolicyLines;
    expect(most).toBeGreaterThanOrEqual(32);
    const log = (i: number) => `log ${vkey(i, 1)}\n`;
    const group = (i: number) => `group g${i} any w${i}\n`;
    const many = (line: (i: number) => string) => Array.from({ length: most }, (_, i) => line(i)).join('');
    const full = many(log) + many(w) + many(group);
    expect(faultOf(`${full}quorum none\n`)).toBe('none');
    for (const line of [log, w, group]) expect(faultOf(full + line(most))).toBe(`too_large ${3 * most + 1}`);
    expect(faultOf(new Uint8Array(limits.maxPolicyBytes + 1))).toBe('too_large 0');
  });
});

const w = (n: number) => `witness w${n} ${vkey(n)}\n`;
const withoutWitness = vkey(1).replace(/\+[0-9a-f]{8}\+/, '+00000000+');

test.for([
  ['', 'no_quorum 0'],
  ['# quorum none\n', 'no_quorum 0'],
  ['quorum none\nquorum none\n', 'second_quorum 2'],
  ['quorum\n', 'wrong_items 1'],
  ['quorum a b\n', 'wrong_items 1'],
  ['quorum a\n', 'unknown_name 1'],
  ['quorum none\r\n', 'bad_octet 1'],
  ['\n\0\n', 'bad_octet 2'],
  ['quorum none \x7f\n', 'bad_octet 1'],
  ['Quorum none\n', 'unknown_line 1'],
  ['constructor x\n', 'unknown_line 1'],
  ['policy 1\n', 'unknown_line 1'],
  [`witness w1\n`, 'wrong_items 1'],
  [`witness w1 ${vkey(1)} http://x y\n`, 'wrong_items 1'],
  [`witness w1 ${withoutWitness}\n`, 'bad_key 1'],
  ['witness w1 w1+00\n', 'bad_key 1'],
  [`witness w1 ${vkey(1, 1)}\n`, 'wrong_key_type 1'],
  [`log ${vkey(1, 4)}\n`, 'wrong_key_type 1'],
  ['log\n', 'wrong_items 1'],
  [`log ${vkey(1, 1)} ftp://x\n`, 'bad_url 1'],
  [`witness w1 ${vkey(1)} x.example\n`, 'bad_url 1'],
  [`witness w1 ${vkey(1)} http://u:p@x.example\n`, 'bad_url 1'],
  [`witness w1 ${vkey(1)} http://x.example/?a\n`, 'bad_url 1'],
  [`witness none ${vkey(1)}\n`, 'reserved_name 1'],
  [`${w(1)}group none all w1\n`, 'reserved_name 2'],
  [`${w(1)}${w(2)}witness w1 ${vkey(3)}\n`, 'duplicate_name 3'],
  [`${w(1)}group w1 all w1\n`, 'duplicate_name 2'],
  [`${w(1)}witness w2 ${vkey(1, 4, 'other')}\n`, 'duplicate_key 2'],
  [`log ${vkey(1, 1)}\nlog ${vkey(1, 1, 'other')}\n`, 'duplicate_key 2'],
  ['group g all\n', 'wrong_items 1'],
  ['group g all none\n', 'unknown_name 1'],
  [`group g all w1\n${w(1)}`, 'unknown_name 1'],
  [`${w(1)}group g all g\n`, 'unknown_name 2'],
  [`${w(1)}group g all w1 w1\n`, 'member_twice 2'],
  [`${w(1)}group g all w1\ngroup h all w1\n`, 'member_twice 3'],
  [`${w(1)}group g 0 w1\n`, 'bad_threshold 2'],
  [`${w(1)}group g 2 w1\n`, 'bad_threshold 2'],
  [`${w(1)}group g 01 w1\n`, 'bad_threshold 2'],
  [`${w(1)}group g +1 w1\n`, 'bad_threshold 2'],
  [`${w(1)}group g some w1\n`, 'bad_threshold 2'],
] as const)('%j is rejected: %s', ([text, wanted]) => {
  expect(faultOf(text)).toBe(wanted);
});

test('parsing any octets results in a policy or a fault that names a line', () => {
  const item = fc.oneof(
    fc.constantFrom('log', 'witness', 'group', 'quorum', 'none', 'all', 'any', '1', '2', '#', 'w1', 'w2', 'g'),
    fc.constantFrom(vkey(1), vkey(2), vkey(3, 1), 'http://x.example', 'a+b+c'),
    fc.string({ unit: 'binary', maxLength: 5 }),
  );
  const lines = fc.array(
    fc.array(item, { maxLength: 6 }).map((items) => items.join(' ')),
    { maxLength: 8 },
  );
  fc.assert(fc.property(lines, (text) => void faultOf(text.join('\n'))));
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => void faultOf(octets)));
  const mutated = fc.tuple(fc.nat(example.length - 1), fc.string({ unit: 'binary', maxLength: 3 }), fc.nat(9));
  fc.assert(
    fc.property(mutated, ([at, put, cut]) => void faultOf(example.slice(0, at) + put + example.slice(at + cut))),
  );
});
