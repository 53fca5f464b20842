import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cosignedMessage, decodeCosignature, encodeCosignature } from '../../src/tlog/cosignature.ts';
import { noteSignatureBy, parseNote } from '../../src/tlog/note.ts';
import { faultOf } from './faults.ts';
import { cosigner, verify } from './note-signer.ts';

/** The example of C2SP tlog-cosignature. */
const published = parseNote(`example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
`);
const signature = new Uint8Array(64).fill(7);

describe('a cosignature', () => {
  test('of the published example has the published time, bytes and signed message', () => {
    const { timeS, signature } = decodeCosignature(published.signatures[1]!.signature);
    expect(timeS).toBe(1_679_315_147);
    expect(encodeCosignature(timeS, signature)).toEqual(published.signatures[1]!.signature);
    expect(Buffer.from(cosignedMessage(timeS, published.text)).toString()).toBe(
      `cosignature/v1
time 1679315147
example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
`,
    );
  });

  test('verifies only with the time that it states', () => {
    const witness = cosigner('witness.example.com/w1', 1_679_315_147);
    const signed = witness.sign(published.text);
    const signatures = [...published.signatures, signed];
    expect(noteSignatureBy({ ...published, signatures }, witness.key, verify)).toBe(signed);
    const later = encodeCosignature(1_679_315_148, decodeCosignature(signed.signature).signature);
    const moved = { ...published, signatures: [{ ...signed, signature: later }] };
    expect(faultOf(() => noteSignatureBy(moved, witness.key, verify))).toBe('bad_note_signature');
  });

  test('with a time above 2^53 − 1 does not verify', () => {
    const witness = cosigner('w', 1);
    const bytes = witness.sign(published.text).signature.slice();
    bytes[0] = 0xff;
    const note = { ...published, signatures: [{ name: 'w', keyId: witness.key.keyId, signature: bytes }] };
    expect(faultOf(() => noteSignatureBy(note, witness.key, verify))).toBe('bad_note_signature');
  });

  test('round-trips', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.uint8Array({ minLength: 64, maxLength: 64 }), (timeS, signature) => {
        const bytes = encodeCosignature(timeS, signature);
        expect(decodeCosignature(bytes)).toEqual({ timeS, signature });
        const larger = Uint8Array.of(1, 2, 3, ...bytes, 4);
        expect(decodeCosignature(larger.subarray(3, 75))).toEqual({ timeS, signature });
      }),
    );
  });

  test.each([0, 2 ** 31, 2 ** 32, 2 ** 53 - 1])('round-trips with a time of %d s', (timeS) => {
    const bytes = encodeCosignature(timeS, signature);
    expect(Buffer.from(bytes).readBigUInt64BE()).toBe(BigInt(timeS));
    expect(decodeCosignature(bytes).timeS).toBe(timeS);
  });

  test.each([-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY])('is rejected with a time of %d s', (timeS) => {
    expect(faultOf(() => encodeCosignature(timeS, signature))).toBe('bad_timestamp');
    expect(faultOf(() => cosignedMessage(timeS, 'a\n'))).toBe('bad_timestamp');
  });

  test('is rejected with another length, or a time above 2^53 − 1', () => {
    expect(faultOf(() => encodeCosignature(1, signature.slice(1)))).toBe('bad_cosignature');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        if (bytes.length !== 72) expect(faultOf(() => decodeCosignature(bytes))).toBe('bad_cosignature');
      }),
    );
    for (const time of [2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      const bytes = Buffer.alloc(72);
      bytes.writeBigUInt64BE(time);
      expect(faultOf(() => decodeCosignature(bytes))).toBe('bad_timestamp');
    }
  });
});
