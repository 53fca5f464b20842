import { digits, type Random } from '../traffic/random.ts';
import {
  cities,
  endings,
  foreign,
  givenNames,
  openings,
  pinyin,
  romaji,
  shortenings,
  surnames,
  words,
} from './vocabulary.ts';

/** Names that people choose, without their suffix. */
export interface Ordinary {
  readonly id: string;
  /**
   * Whether these names and the words in them are kept out of the training, to measure the rate of false alarms.
   */
  readonly heldOut: boolean;
  /** Weight of the kind among all ordinary names. */
  readonly share: number;
  readonly make: (rng: Random) => string;
}

/** Returns whether a word is held out: every fifth English word and surname. */
const isHeldOut = (_: string, i: number) => i % 5 === 0;
const isSeen = (_: string, i: number) => i % 5 !== 0;
const seen = { english: words.filter(isSeen), surnames: surnames.filter(isSeen), foreign: foreign.training };
const unseenForeign = new Set(foreign.training);
const unseen = {
  english: words.filter(isHeldOut),
  surnames: surnames.filter(isHeldOut),
  foreign: foreign.heldOut.filter((word) => !unseenForeign.has(word)),
};
type Vocabulary = typeof seen;

export const ordinary: readonly Ordinary[] = [...shapes(seen, false), ...shapes(unseen, true)];

function shapes(of: Vocabulary, heldOut: boolean): Ordinary[] {
  const { english, foreign } = of;
  const any = (rng: Random) => rng.pick(rng.chance(0.5) ? english : foreign);
  const shapes: Record<string, readonly [share: number, make: (rng: Random) => string]> = {
    'a word': [2, (rng) => rng.pick(english)],
    'two words': [3, (rng) => rng.pick(english) + rng.pick(english)],
    'two words with a dash': [1, (rng) => `${any(rng)}-${any(rng)}`],
    'three words': [1, (rng) => any(rng) + rng.pick(english) + any(rng)],
    'a foreign word': [3, (rng) => rng.pick(foreign)],
    'two foreign words': [2, (rng) => rng.pick(foreign) + rng.pick(foreign)],
    'an opening and a word': [2, (rng) => rng.pick(openings) + any(rng)],
    'a word and an ending': [3, (rng) => any(rng) + rng.pick(endings)],
    'a person': [2, (rng) => person(rng, of.surnames)],
    'a city and a trade': [1, (rng) => rng.pick(cities) + rng.pick(endings)],
    'a word and a number': [1, (rng) => any(rng) + rng.text(rng.int(1, 5), digits)],
    'two words blended': [2, (rng) => start(rng, any(rng)) + end(rng, any(rng))],
    'an invented brand': [
      2,
      (rng) =>
        start(rng, any(rng)) +
        rng.pick(['ix', 'ex', 'ara', 'io', 'ia', 'us', 'on', 'eo', 'ify', 'ly', 'oo', 'zy', 'is', 'um', 'ax']),
    ],
    'vowels left out': [1, (rng) => any(rng).replace(/(?<=.)[aeiou](?=[^aeiou]$)/, '') + rng.pick(['', ...endings])],
    'technical short forms': [2, (rng) => technical(rng, any)],
    'initials and a word': [1, (rng) => rng.text(rng.int(1, 4), 'abcdefghijklmnoprstuvw') + any(rng)],
    pinyin: [
      1,
      (rng) =>
        repeat(rng.int(2, 5), () => rng.pick(pinyin.initials) + rng.pick(pinyin.finals)) +
        (rng.chance(0.2) ? rng.text(2, digits) : ''),
    ],
    japanese: [1, (rng) => repeat(rng.int(3, 6), () => rng.pick(romaji))],
    'a number and a word': [0.5, (rng) => rng.text(rng.int(1, 4), digits) + any(rng)],
  };
  return Object.entries(shapes).map(([id, [share, make]]) => ({ id, heldOut, share, make }));
}

function person(rng: Random, surnames: readonly string[]): string {
  const surname = rng.pick(surnames);
  const given = rng.chance(0.3) ? rng.pick(givenNames).slice(0, 1) : rng.pick(givenNames);
  return given + (rng.chance(0.2) ? '-' : '') + surname + (rng.chance(0.3) ? rng.pick(endings) : '');
}

function technical(rng: Random, any: (rng: Random) => string): string {
  const kind = rng.next();
  if (kind < 0.4) return rng.pick(shortenings) + any(rng);
  if (kind < 0.8) return any(rng) + rng.pick(shortenings);
  return rng.pick(shortenings) + start(rng, any(rng)) + rng.pick(shortenings);
}

const start = (rng: Random, word: string) => word.slice(0, rng.int(3, 6));
const end = (rng: Random, word: string) => word.slice(-rng.int(3, 6));
const repeat = (times: number, make: () => string) => Array.from({ length: times }, make).join('');
