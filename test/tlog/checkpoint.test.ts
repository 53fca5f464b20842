import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Checkpoint, formatCheckpoint, parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import type { TlogFault } from '../../src/tlog/fault.ts';
import { formatNote, parseNote } from '../../src/tlog/note.ts';
import { faultOf } from './faults.ts';
import { mutated } from './mutations.ts';

/** The example of C2SP tlog-checkpoint. */
const published = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;
const root = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';
const sized = (size: string) => `a\n${size}\n${root}\n`;

const line = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .map((text) => text.replaceAll(/\p{Cc}/gu, '.'));
const checkpoint: fc.Arbitrary<Checkpoint> = fc.record({
  origin: line,
  size: fc.maxSafeNat(),
  root: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  extensions: fc.array(line, { maxLength: 3 }),
});

describe('a checkpoint', () => {
  test('parses and formats the published example', () => {
    const note = parseNote(published);
    const read = parseCheckpoint(note.text);
    expect(read).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163, extensions: [] });
    expect(Buffer.from(read.root).toString('base64')).toBe(root);
    expect(formatNote({ ...note, text: formatCheckpoint(read) })).toBe(published);
  });

  test('round-trips', () => {
    fc.assert(
      fc.property(checkpoint, (checkpoint) => {
        expect(parseCheckpoint(formatCheckpoint(checkpoint))).toEqual(checkpoint);
      }),
    );
  });

  test.each([0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1])('keeps size %d exactly', (size) => {
    const { root, ...rest } = parseCheckpoint(sized(String(size)));
    expect(rest).toEqual({ origin: 'a', size, extensions: [] });
    expect(formatCheckpoint({ root, ...rest })).toBe(sized(String(size)));
  });

  test('has one spelling: formatting a parsed checkpoint yields the same text', () => {
    const good = parseNote(published).text;
    const faults = [undefined, 'bad_note', 'bad_checkpoint', 'bad_size', 'bad_base64', 'bad_hash'];
    fc.assert(
      fc.property(fc.oneof(mutated(good), fc.string({ unit: 'binary', maxLength: 200 })), (other) => {
        const fault = faultOf(() => expect(formatCheckpoint(parseCheckpoint(other))).toBe(other));
        expect(faults).toContain(fault);
      }),
      { numRuns: 600 },
    );
  });

  test('keeps its extension lines, and an origin that is not a URL', () => {
    const text = `an origin + more\n1\n${root}\none\n \n`;
    expect(parseCheckpoint(text)).toMatchObject({ origin: 'an origin + more', extensions: ['one', ' '] });
  });

  test.each<[string, TlogFault, string]>([
    ['no characters', 'bad_note', ''],
    ['no newline at the end', 'bad_note', sized('1').trimEnd()],
    ['a carriage return', 'bad_note', sized('1\r')],
    ['a lone surrogate', 'bad_note', sized('1').replace('a', '\ud800')],
    ['two lines', 'bad_checkpoint', 'a\n1\n'],
    ['no origin', 'bad_checkpoint', sized('1').slice(1)],
    ['no size', 'bad_checkpoint', sized('')],
    ['no root', 'bad_checkpoint', 'a\n1\n\n'],
    ['an empty line at the end', 'bad_checkpoint', `${sized('1')}\n`],
    ['an empty line before an extension', 'bad_checkpoint', `${sized('1')}\nmore\n`],
    ['a leading zero', 'bad_size', sized('01')],
    ['only zeros', 'bad_size', sized('00')],
    ['a plus', 'bad_size', sized('+1')],
    ['a negative size', 'bad_size', sized('-1')],
    ['negative zero', 'bad_size', sized('-0')],
    ['an exponent', 'bad_size', sized('1e3')],
    ['hexadecimal', 'bad_size', sized('0x10')],
    ['a fraction', 'bad_size', sized('1.0')],
    ['a space before the size', 'bad_size', sized(' 1')],
    ['digits of another script', 'bad_size', sized('\u0661')],
    ['2^53', 'bad_size', sized('9007199254740992')],
    ['2^53 + 1', 'bad_size', sized('9007199254740993')],
    ['2^64', 'bad_size', sized('18446744073709551616')],
    ['a size with a thousand digits', 'bad_size', sized('9'.repeat(1000))],
    ['a root in hexadecimal', 'bad_hash', `a\n1\n${'0'.repeat(64)}\n`],
    ['a root of 31 bytes', 'bad_hash', `a\n1\n${Buffer.alloc(31).toString('base64')}\n`],
    ['a root of 33 bytes', 'bad_hash', `a\n1\n${Buffer.alloc(33).toString('base64')}\n`],
    ['a root without padding', 'bad_base64', `a\n1\n${root.slice(0, -1)}\n`],
    ['a root with bits left over', 'bad_base64', `a\n1\n${root.replace('2I=', '2J=')}\n`],
    ['a root in base64url', 'bad_base64', `a\n1\n${root.replace('/', '_')}\n`],
  ])('with %s is rejected: %s', (_what, fault, text) => {
    expect(faultOf(() => parseCheckpoint(text))).toBe(fault);
  });

  const good: Checkpoint = { origin: 'a', size: 1, root: new Uint8Array(32), extensions: [] };
  test.each<[string, TlogFault, Checkpoint]>([
    ['an empty origin', 'bad_checkpoint', { ...good, origin: '' }],
    ['two lines for its origin', 'bad_checkpoint', { ...good, origin: 'a\n2' }],
    ['a control character in its origin', 'bad_note', { ...good, origin: 'a\t' }],
    ['a lone surrogate in its origin', 'bad_note', { ...good, origin: '\udc00' }],
    ['an empty extension', 'bad_checkpoint', { ...good, extensions: [''] }],
    ['an extension of two lines', 'bad_checkpoint', { ...good, extensions: ['a\nb'] }],
    ['a negative size', 'bad_size', { ...good, size: -1 }],
    ['size 2^53', 'bad_size', { ...good, size: 2 ** 53 }],
    ['a fractional size', 'bad_size', { ...good, size: 1.5 }],
    ['a root of 31 bytes', 'bad_hash', { ...good, root: new Uint8Array(31) }],
  ])('with %s cannot be formatted: %s', (_what, fault, checkpoint) => {
    expect(faultOf(() => formatCheckpoint(checkpoint))).toBe(fault);
  });
});
