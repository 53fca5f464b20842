import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TlogFault } from '../../src/tlog/fault.ts';
import {
  formatNote,
  formatVerifierKey,
  maxNoteLength,
  maxNoteSignatures,
  type Note,
  noteKeyId,
  noteSignatureBy,
  parseNote,
  parseVerifierKey,
  signatureTypes,
  verifierKey,
} from '../../src/tlog/note.ts';
import { faultOf, flip } from './faults.ts';
import { mutated } from './mutations.ts';
import { cosigner, noteSigner, verify } from './note-signer.ts';
import { sha256 } from './oracle.ts';

/** The example in the documentation of golang.org/x/mod/sumdb/note, signed by two keys. */
const neumann = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const published = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=
`;

const some = '— a.example/log AAAAAQI=\n';
const line = (name: string, base64: string) => `text\n\n— ${name} ${base64}\n`;

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => !/[\p{White_Space}\p{Cc}+]/u.test(text));
const signature = fc.record({
  name,
  keyId: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  signature: fc.uint8Array({ minLength: 1, maxLength: 100 }),
});
const text = fc
  .array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 6 })
  .map((lines) => `${lines.join('\n').replaceAll(/[^\P{Cc}\n]/gu, '')}\n`);
const note: fc.Arbitrary<Note> = fc.record({
  text,
  signatures: fc.array(signature, { minLength: 1, maxLength: 20 }),
});

describe('a note', () => {
  test('parses and formats the published example, whose signature verifies', () => {
    const note = parseNote(published);
    expect(note.text.split('\n')).toHaveLength(3);
    expect(note.signatures.map(({ name, keyId }) => [name, keyId])).toEqual([
      ['PeterNeumann', 0xc74f20a3],
      ['EnochRoot', 0xaf0cfe78],
    ]);
    expect(formatNote(note)).toBe(published);
    const key = parseVerifierKey(sha256, neumann);
    expect(noteSignatureBy(note, key, verify)).toBe(note.signatures[0]);
  });

  test('round-trips with any text and signatures', () => {
    fc.assert(
      fc.property(note, (note) => {
        expect(parseNote(formatNote(note))).toEqual(note);
      }),
    );
  });

  test('has one spelling: formatting a parsed note yields the same text', () => {
    fc.assert(
      fc.property(mutated(published), (other) => {
        const fault = faultOf(() => expect(formatNote(parseNote(other))).toBe(other));
        expect([undefined, 'bad_note', 'bad_key_name', 'bad_base64']).toContain(fault);
      }),
      { numRuns: 600 },
    );
  });

  test('ends its text at the last empty line', () => {
    expect(parseNote(`\n\n\n\n${some}`).text).toBe('\n\n\n');
    expect(parseNote(`a\n\n${some}\n${some}`)).toMatchObject({
      text: `a\n\n${some}`,
      signatures: { length: 1 },
    });
    expect(parseNote(`\n\n${some}`).text).toBe('\n');
  });

  test('may have at most 100 signatures and a million characters', () => {
    const signed = (count: number) => `a\n\n${some.repeat(count)}`;
    expect(parseNote(signed(16)).signatures).toHaveLength(16);
    expect(parseNote(signed(maxNoteSignatures)).signatures).toHaveLength(maxNoteSignatures);
    expect(faultOf(() => parseNote(signed(maxNoteSignatures + 1)))).toBe('bad_note');
    const fill = 'a'.repeat(maxNoteLength - signed(1).length);
    expect(parseNote(fill + signed(1)).signatures).toHaveLength(1);
    expect(faultOf(() => parseNote(`a${fill}${signed(1)}`))).toBe('bad_note');
    expect(faultOf(() => formatNote({ ...parseNote(signed(1)), text: `${fill}aa\n` }))).toBe('bad_note');
  });

  test('with a million repeated characters causes a fault, not a stack overflow', () => {
    for (const unit of ['\n', ' ', '— ', '— a', 'A', '=', '\u00a0', '+', some]) {
      const long = unit.repeat(Math.floor(maxNoteLength / unit.length) - 10);
      for (const text of [long, `a\n\n${long}x`, `a\n\n— a ${long}x\n`, `a\n\n— ${long} AAAA\n`]) {
        expect(faultOf(() => parseNote(text))).toMatch(/^bad_/);
      }
      for (const text of [long, `${long}+00000000+AA==`, `a+00000000+${long}`]) {
        expect(faultOf(() => parseVerifierKey(sha256, text))).toMatch(/^bad_/);
      }
    }
  });

  test.each<[string, TlogFault, string]>([
    ['no characters', 'bad_note', ''],
    ['no signatures', 'bad_note', 'text\n'],
    ['no signatures after the empty line', 'bad_note', 'text\n\n'],
    ['no empty line', 'bad_note', `text\n${some}`],
    ['no text', 'bad_note', `\n${some}`],
    ['no newline at the end', 'bad_note', `text\n\n${some.trimEnd()}`],
    ['carriage returns', 'bad_note', `text\r\n\r\n${some}`],
    ['a tab in the text', 'bad_note', `a\tb\n\n${some}`],
    ['a NUL in the text', 'bad_note', `a\0b\n\n${some}`],
    ['a lone surrogate in the text', 'bad_note', `a\ud800b\n\n${some}`],
    ['a lone surrogate in a name', 'bad_key_name', line('a\udc00', 'AAAAAQI=')],
    ['a line that is not a signature', 'bad_note', `text\n\nmore\n${some}`],
    ['a hyphen for the dash', 'bad_note', `text\n\n- a AAAAAQI=\n`],
    ['an en dash for the dash', 'bad_note', `text\n\n– a AAAAAQI=\n`],
    ['two spaces before the name', 'bad_note', `text\n\n—  a AAAAAQI=\n`],
    ['an empty name', 'bad_key_name', `text\n\n—  AAAAAQI=\n`],
    ['a plus in a name', 'bad_key_name', line('a+b', 'AAAAAQI=')],
    ['a no-break space in a name', 'bad_key_name', line('a\u00a0b', 'AAAAAQI=')],
    ['a next-line in a name', 'bad_key_name', line('a\u0085b', 'AAAAAQI=')],
    ['an ideographic space in a name', 'bad_key_name', line('a\u3000b', 'AAAAAQI=')],
    ['a tab in a name', 'bad_key_name', line('a\tb', 'AAAAAQI=')],
    ['a signature line that ends after the name', 'bad_note', 'text\n\n— a\n'],
    ['an empty signature', 'bad_note', 'text\n\n— a \n'],
    ['a signature with only a key id', 'bad_note', line('a', 'AAAAAQ==')],
    ['a signature shorter than a key id', 'bad_note', line('a', 'AAA=')],
    ['base64 without padding', 'bad_base64', line('a', 'AAAAAQI')],
    ['base64 with bits left over', 'bad_base64', line('a', 'AAAAAQJ=')],
    ['base64url', 'bad_base64', line('a', 'AAAAAQ-_')],
    ['a signature with trailing text', 'bad_note', line('a', 'AAAAAQI= ')],
    ['a signature with a carriage return', 'bad_base64', line('a', 'AAAAAQI=\r')],
  ])('with %s is rejected: %s', (_what, fault, note) => {
    expect(faultOf(() => parseNote(note))).toBe(fault);
  });

  test('accepts names with U+FEFF, which is not white space', () => {
    expect(parseNote(line('a\ufeffb', 'AAAAAQI=')).signatures[0]!.name).toBe('a\ufeffb');
  });

  const good = { name: 'a', keyId: 1, signature: Uint8Array.of(1) };
  test.each<[string, TlogFault, Note]>([
    ['no newline at the end of its text', 'bad_note', { text: 'a', signatures: [good] }],
    ['an empty text', 'bad_note', { text: '', signatures: [good] }],
    ['a control character', 'bad_note', { text: 'a\u001f\n', signatures: [good] }],
    ['a lone surrogate', 'bad_note', { text: 'a\ud800\n', signatures: [good] }],
    ['no signature', 'bad_note', { text: 'a\n', signatures: [] }],
    ['101 signatures', 'bad_note', { text: 'a\n', signatures: Array(101).fill(good) }],
    ['an empty signature', 'bad_note', { text: 'a\n', signatures: [{ ...good, signature: new Uint8Array() }] }],
    ['an empty name', 'bad_key_name', { text: 'a\n', signatures: [{ ...good, name: '' }] }],
    ['a name with a newline', 'bad_key_name', { text: 'a\n', signatures: [{ ...good, name: 'a\nb' }] }],
    ['a negative key id', 'bad_key_id', { text: 'a\n', signatures: [{ ...good, keyId: -1 }] }],
    ['a key id of 33 bits', 'bad_key_id', { text: 'a\n', signatures: [{ ...good, keyId: 2 ** 32 }] }],
    ['NaN as a key id', 'bad_key_id', { text: 'a\n', signatures: [{ ...good, keyId: Number.NaN }] }],
  ])('with %s cannot be formatted: %s', (_what, fault, note) => {
    expect(faultOf(() => formatNote(note))).toBe(fault);
  });
});

describe('a signature', () => {
  const text = 'a.example/log\n1\n';
  const [log, other, witness] = [noteSigner('a.example/log'), noteSigner('a.example/log'), cosigner('w.example', 7)];
  const signed = [log, other, witness].map(({ sign }) => sign(text));

  test('is found by name and key id, among others of the same name', () => {
    const note = parseNote(formatNote({ text, signatures: signed }));
    for (const [i, { key }] of [log, other, witness].entries()) {
      expect(noteSignatureBy(note, key, verify)).toEqual(signed[i]);
    }
  });

  test('is absent for a key that did not sign, even if another key has the same name or id', () => {
    const signatures = [signed[1]!, { ...signed[0]!, name: 'a.example/log2' }];
    expect(noteSignatureBy({ text, signatures }, log.key, verify)).toBeUndefined();
  });

  test('that names a known key but is invalid invalidates the note, at any position', () => {
    for (const [i, { key }] of [log, other, witness].entries()) {
      const bytes = signed[i]!.signature;
      const bad = [flip(bytes, i), bytes.slice(1), new Uint8Array(1), new Uint8Array([...bytes, 0])];
      for (const signature of bad) {
        for (const signatures of [[{ ...signed[i]!, signature }], [signed[i]!, { ...signed[i]!, signature }]]) {
          expect(faultOf(() => noteSignatureBy({ text, signatures }, key, verify))).toBe('bad_note_signature');
        }
      }
      const elsewhere = { text: `${text}b\n`, signatures: signed };
      expect(faultOf(() => noteSignatureBy(elsewhere, key, verify))).toBe('bad_note_signature');
    }
  });

  test('is rejected if the type of its key is unknown', () => {
    const note = { text, signatures: signed };
    expect(faultOf(() => noteSignatureBy(note, { ...log.key, type: 6 }, verify))).toBe('bad_key_type');
  });

  test('does not count for a key of another type, even with the same name and public key', () => {
    const cosigning = verifierKey(sha256, log.key.name, signatureTypes.cosignature, log.key.publicKey);
    expect(cosigning.keyId).not.toBe(log.key.keyId);
    expect(noteSignatureBy({ text, signatures: signed }, cosigning, verify)).toBeUndefined();
    const relabelled = [{ ...signed[0]!, keyId: cosigning.keyId }];
    expect(faultOf(() => noteSignatureBy({ text, signatures: relabelled }, cosigning, verify))).toBe(
      'bad_note_signature',
    );
  });
});

describe('a verifier key', () => {
  const publicKey = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const type = fc.constantFrom(...Object.values(signatureTypes));

  test('round-trips', () => {
    fc.assert(
      fc.property(name, type, publicKey, (name, type, publicKey) => {
        const key = verifierKey(sha256, name, type, publicKey);
        expect(parseVerifierKey(sha256, formatVerifierKey(key))).toEqual(key);
      }),
    );
    expect(formatVerifierKey(parseVerifierKey(sha256, neumann))).toBe(neumann);
  });

  test('that was changed is rejected', () => {
    fc.assert(
      fc.property(mutated(neumann), (other) => {
        const fault = faultOf(() => expect(formatVerifierKey(parseVerifierKey(sha256, other))).toBe(neumann));
        if (fault === undefined) expect(other).toBe(neumann);
      }),
      { numRuns: 600 },
    );
  });

  const key = new Uint8Array(32);
  const ml = Buffer.from([6, ...key]).toString('base64');
  const short = Buffer.from([1, ...key.slice(1)]).toString('base64');
  test.each<[string, TlogFault, string]>([
    ['no characters', 'bad_verifier_key', ''],
    ['a name alone', 'bad_verifier_key', 'PeterNeumann'],
    ['no key', 'bad_verifier_key', 'PeterNeumann+c74f20a3'],
    ['an empty key', 'bad_key_type', 'PeterNeumann+c74f20a3+'],
    ['an empty name', 'bad_key_name', neumann.replace('PeterNeumann', '')],
    ['a space in its name', 'bad_key_name', neumann.replace('rN', 'r N')],
    ['an id of seven digits', 'bad_verifier_key', neumann.replace('+c7', '+7')],
    ['an id in capitals', 'bad_verifier_key', neumann.replace('c74f20a3', 'C74F20A3')],
    ['the id of another key', 'bad_key_id', neumann.replace('c74f20a3', 'c74f20a4')],
    ['another name', 'bad_key_id', neumann.replace('Peter', 'Petra')],
    ['an unknown type', 'bad_key_type', `a+00000000+${ml}`],
    ['a public key of 31 bytes', 'bad_verifier_key', `a+00000000+${short}`],
    ['a newline at the end', 'bad_base64', `${neumann}\n`],
    ['base64 with superfluous padding', 'bad_base64', `${neumann}==`],
  ])('with %s is rejected: %s', (_what, fault, text) => {
    expect(faultOf(() => parseVerifierKey(sha256, text))).toBe(fault);
  });

  test('that is invalid has neither id nor text form', () => {
    expect(faultOf(() => noteKeyId(sha256, 'a b', 1, key))).toBe('bad_key_name');
    expect(faultOf(() => noteKeyId(sha256, 'a', 2, key))).toBe('bad_key_type');
    expect(faultOf(() => noteKeyId(sha256, 'a', 1, key.slice(1)))).toBe('bad_verifier_key');
    const good = { name: 'a', keyId: 1, type: 1, publicKey: key };
    expect(faultOf(() => formatVerifierKey({ ...good, keyId: 0.5 }))).toBe('bad_key_id');
    expect(faultOf(() => formatVerifierKey({ ...good, name: 'a+' }))).toBe('bad_key_name');
  });
});

test('arbitrary texts cause no errors other than faults', () => {
  const anything = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(anything, anything, fc.string({ maxLength: 100 }), (a, b, c) => {
      for (const text of [a, b, c, `${a}\n\n${some}`, `a\n\n— ${b} ${c}\n`, `a\n\n${c}\n`])
        faultOf(() => parseNote(text));
      for (const text of [a, `${a}+00000000+${c}`, `${a}+c74f20a3+${neumann.slice(-44)}`]) {
        faultOf(() => parseVerifierKey(sha256, text));
      }
    }),
    { numRuns: 300 },
  );
});
