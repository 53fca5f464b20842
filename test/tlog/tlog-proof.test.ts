import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatTlogProof, parseTlogProof } from '../../src/tlog/tlog-proof.ts';
import { faultOf } from './faults.ts';
import { mutated } from './mutations.ts';

const hashes = ['gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=', 'B95lDa8R83lS8n0eG+o0buTxRKQTYFi//1U8anccXmA='];
const note = `example.com/fancylog
109482
sFodV/vSp5O8n9a8QpW6PRY97tfOSW5bsc2Xl/EQi08=

— example.com/fancylog Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;
/** The example of C2SP tlog-proof. */
const published = `c2sp.org/tlog-proof@v1
extra YWdlLXYxLjIuMQ==
index 73894
${hashes.join('\n')}

${note}`;

describe('a tlog-proof', () => {
  test('parses and formats the published example', () => {
    const proof = parseTlogProof(published);
    expect(proof).toMatchObject({ leafIndex: 73_894, note });
    expect(Buffer.from(proof.extra!).toString()).toBe('age-v1.2.1');
    expect(proof.path.map((hash) => Buffer.from(hash).toString('base64'))).toEqual(hashes);
    expect(formatTlogProof(proof)).toBe(published);
  });

  test('may lack extra data and hashes', () => {
    const text = `c2sp.org/tlog-proof@v1\nindex 0\n\n${note}`;
    expect(parseTlogProof(text)).toEqual({ leafIndex: 0, path: [], note });
    expect(formatTlogProof({ leafIndex: 0, path: [], note })).toBe(text);
  });

  test.each([
    ['another version', published.replace('@v1', '@v2')],
    ['no index', published.replace(/index.*\n/, '')],
    ['an index with a leading zero', published.replace('index 7', 'index 07')],
    ['index 2^53', published.replace('73894', '9007199254740992')],
    ['no empty line', published.split('\n\n')[0]!],
    ['65 hashes', published.replace(`${hashes[0]}\n`, `${hashes[0]}\n`.repeat(64))],
    ['extra data after the index', published.replace(/(extra.*\n)(index.*\n)/, '$2$1')],
  ])('with %s is rejected', (_, text) => {
    expect(faultOf(() => parseTlogProof(text))).toMatch(/^bad_(tlog_proof|base64)$/);
  });

  test('with a hash of wrong length or spelling is rejected', () => {
    expect(faultOf(() => parseTlogProof(published.replace(hashes[0]!, 'AAAA')))).toBe('bad_hash');
    expect(faultOf(() => parseTlogProof(published.replace(hashes[0]!, hashes[0]!.slice(1))))).toBe('bad_base64');
  });

  test('has one spelling: formatting a parsed proof yields the same text', () => {
    fc.assert(
      fc.property(mutated(published), (text) => {
        const fault = faultOf(() => expect(formatTlogProof(parseTlogProof(text))).toBe(text));
        expect([undefined, 'bad_tlog_proof', 'bad_base64', 'bad_hash']).toContain(fault);
      }),
    );
  });
});
