/** Hashes that are stored on disk or in ids: data folders of earlier versions have these values. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { checksum } from '../../src/database/rows.ts';
import { hashText } from '../../src/detect/behaviour/support/distinct-sketch.ts';
import { encodeIndicators } from '../../src/detect/intel/intel-index.ts';
import { eventId } from '../../src/events/event-id.ts';
import { hashOfText } from '../../src/events/query/text-filter.ts';
import { Fingerprint } from '../../src/ledger/check/fingerprint.ts';
import { finish, step } from '../../src/sketch/hash.ts';
import { hashBlock } from '../../src/topology/model/nodes.ts';
import { pairHash } from '../../src/topology/model/seen-set.ts';

const texts = ['', 'a', 'abcd', 'example.org', 'CsX7Zk1qPp0aVb3Yc9', 'é🦊'];
const words = [0, 1, -1, 0x7fff_ffff, 0x8000_0000, 0x0a00_0001];

test('hashes of words are those of earlier versions', () => {
  expect(words.map((word) => `${finish(word)} ${step(7, word)}`)).toMatchInlineSnapshot(`
    [
      "0 -430388380",
      "1364076727 650978678",
      "2180083513 342048981",
      "4190899880 207823158",
      "1832674720 -564573248",
      "453747599 1345139735",
    ]
  `);
});

test('hashes of texts are those of earlier versions', () => {
  const ofText = (text: string) => {
    const bytes = Buffer.from(text);
    const { start, step } = hashOfText(bytes);
    return `${hashText(text)} ${start} ${step} ${checksum(text, bytes)}`;
  };
  expect(texts.map(ofText)).toMatchInlineSnapshot(`
    [
      "2872998923 -15128758 -357394599 0",
      "444641715 530429928 -30726279 3666599561",
      "3902797134 -394484645 -783726881 2655786185",
      "2753394979 -484368308 782681879 1106253788",
      "226968320 -58699112 1949464729 3340665984",
      "1757454311 -440181110 894674965 4029004867",
    ]
  `);
});

test('hashes of ids of events are those of earlier versions', () => {
  const sequences = [0, 1, 2 ** 41 + 3, Number.MAX_SAFE_INTEGER];
  expect(sequences.map((seq) => eventId('network', 1_700_000_000_123, seq))).toMatchInlineSnapshot(`
    [
      "018bcfe5-687b-7000-8000-0000000c97a6",
      "018bcfe5-687b-7000-8000-0000002f0cab",
      "018bcfe5-687b-7001-8000-0000006ce923",
      "018bcfe5-687b-7fff-bfff-ffffffe6ad0d",
    ]
  `);
  expect(sequences.map((seq) => eventId('dns', 4_102_444_800_000, seq))).toMatchInlineSnapshot(`
    [
      "03bb2cc3-d800-7000-8000-000000187a04",
      "03bb2cc3-d800-7000-8000-00000038b639",
      "03bb2cc3-d800-7001-8000-00000070bb49",
      "03bb2cc3-d800-7fff-bfff-fffffff464bc",
    ]
  `);
});

test('hashes of blocks and pairs of addresses are those of earlier versions', () => {
  const of = (word: number) => `${hashBlock(word >>> 0, 1, 2, 3, 128, 99)} ${pairHash(word, 5, 2)}`;
  expect(words.map(of)).toMatchInlineSnapshot(`
    [
      "1448177373 995230015",
      "2893366935 406912958",
      "3578962378 1404042810",
      "3675256667 3945678178",
      "348157923 266563416",
      "198300612 3758490275",
    ]
  `);
});

test('fingerprints of rows are those of earlier versions', () => {
  const rows = new Fingerprint([123, 4_000_000_000]);
  for (const word of words) rows.add(word, 1, 2, 3, 4, 5);
  expect(JSON.stringify(rows.sums)).toMatchInlineSnapshot(`"{"left":-37758513,"right":-1100133884,"count":6}"`);
});

test('encoded lists of indicators are those of earlier versions', () => {
  const indicators = [
    ...['10.0.0.1', '192.0.2.0/24', '2001:db8::/32'].map((text) => ({ kind: 'address', text }) as const),
    ...['example.org', 'a.b.example.net'].map((text) => ({ kind: 'domain', text, exact: false }) as const),
  ];
  const bytes = new Uint8Array(encodeIndicators(indicators, 42));
  expect(createHash('sha256').update(bytes).digest('hex')).toMatchInlineSnapshot(
    `"929a21ec9595d2809999e996e9a623cdeab3bffa11c2cd2416379aafa8e9f4c2"`,
  );
});
