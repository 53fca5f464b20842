import { createHash } from 'node:crypto';
import { digits, type Random } from '../traffic/random.ts';
import { cities, words } from './vocabulary.ts';

/**
 * Name generators of malware families, after published descriptions: lengths, letters and shape, but not the
 * arithmetic, which gives the same distribution. Unless noted otherwise, the families and their kinds (arithmetic,
 * hash, word list, permutation) are described in Plohmann, Yakdan, Klatt, Bader, Gerhards-Padilla: A Comprehensive
 * Measurement Study of Domain Generating Malware, USENIX Security 2016. Names do not include their suffix.
 */
export interface Family {
  readonly id: string;
  /** The imitated part of the published description. */
  readonly shape: string;
  /** Whether the family's names are kept out of the training, to measure the detection rate. */
  readonly heldOut: boolean;
  readonly make: (rng: Random) => string;
}

const letters = 'abcdefghijklmnopqrstuvwxyz';
/** Generators that take a number modulo 25 never produce a z. */
const withoutZ = letters.slice(0, 25);
const vowels = 'aeiouy';
const consonants = 'bcdfghjklmnpqrstvwxz';
const base36 = letters + digits;

const between = (rng: Random, low: number, high: number) => rng.int(low, high + 1);
const hex = (rng: Random, algorithm: string) => createHash(algorithm).update(rng.text(16, base36)).digest('hex');
const oneOf = (of: string, low: number, high: number) => (rng: Random) => rng.text(between(rng, low, high), of);

export const families: readonly Family[] = [
  {
    id: 'conficker',
    shape: '5 to 11 letters (Porras, Saidi, Yegneswaran: An Analysis of Conficker, SRI 2009)',
    heldOut: false,
    make: oneOf(letters, 5, 11),
  },
  {
    id: 'kraken',
    shape:
      '6 to 11 letters, half of them with the ending of a noun (Royal: On the Kraken and Bobax Botnets, Damballa 2008)',
    heldOut: false,
    make: (rng) => {
      const stem = rng.text(between(rng, 6, 11), rng.chance(0.5) ? letters : letters + vowels);
      return rng.chance(0.5) ? stem : stem.slice(0, 7) + rng.pick(['able', 'dom', 'hood', 'ment', 'ness', 'ship']);
    },
  },
  { id: 'cryptolocker', shape: '12 to 15 letters without z', heldOut: false, make: oneOf(withoutZ, 12, 15) },
  { id: 'necurs', shape: '7 to 21 letters without z', heldOut: false, make: oneOf(withoutZ, 7, 21) },
  { id: 'locky', shape: '5 to 17 letters without z', heldOut: false, make: oneOf(withoutZ, 5, 17) },
  { id: 'ramnit', shape: '8 to 19 letters without z', heldOut: false, make: oneOf(withoutZ, 8, 19) },
  { id: 'murofet', shape: '12 to 16 letters, of a hash', heldOut: false, make: oneOf(letters, 12, 16) },
  {
    id: 'gameover',
    shape: '20 to 28 letters and digits: an MD5 in base 36',
    heldOut: false,
    make: oneOf(base36, 20, 28),
  },
  { id: 'bamital', shape: 'an MD5 in hexadecimal', heldOut: false, make: (rng) => hex(rng, 'md5') },
  {
    id: 'pykspa',
    shape: '6 to 15 letters, more vowels than by chance',
    heldOut: false,
    make: oneOf(letters + vowels, 6, 15),
  },
  {
    id: 'simda',
    shape: '5 to 11 letters, consonants and vowels in turn',
    heldOut: false,
    make: (rng) => alternating(rng, between(rng, 5, 11)),
  },
  {
    id: 'banjori',
    shape: 'a fixed name whose first four letters are replaced',
    heldOut: false,
    make: (rng) => rng.text(4, letters) + rng.pick(banjoriTails),
  },
  { id: 'qakbot', shape: '8 to 25 letters', heldOut: true, make: oneOf(letters, 8, 25) },
  {
    id: 'tinba',
    shape: '12 letters of a part of the alphabet',
    heldOut: true,
    make: oneOf('bcdefghijklmnopqrstuvwxy', 12, 12),
  },
  { id: 'emotet', shape: '16 letters without z', heldOut: true, make: oneOf(withoutZ, 16, 16) },
  { id: 'ranbyus', shape: '14 letters without z', heldOut: true, make: oneOf(withoutZ, 14, 14) },
  { id: 'nymaim', shape: '5 to 12 letters', heldOut: true, make: oneOf(letters, 5, 12) },
  { id: 'virut', shape: '6 letters', heldOut: true, make: oneOf(letters, 6, 6) },
  {
    id: 'dyre',
    shape: 'a letter and 33 hexadecimal digits of a SHA-256',
    heldOut: true,
    make: (rng) => rng.pick([...letters]) + hex(rng, 'sha256').slice(0, 33),
  },
  { id: 'gspy', shape: '16 hexadecimal digits', heldOut: true, make: (rng) => hex(rng, 'md5').slice(0, 16) },
  {
    id: 'corebot',
    shape: '12 to 23 letters and digits',
    heldOut: true,
    make: oneOf(`${base36.slice(0, 25)}1345678`, 12, 23),
  },
  { id: 'chinad', shape: '16 letters and digits', heldOut: true, make: oneOf(base36, 16, 16) },
  { id: 'padcrypt', shape: '16 to 24 of 12 letters', heldOut: true, make: oneOf('abcdefklmnou', 16, 24) },
  {
    id: 'vawtrak',
    shape: '7 to 12 letters: syllables of a consonant and a vowel with consonants between them',
    heldOut: true,
    make: (rng) => syllables(rng, between(rng, 7, 12), 0.35),
  },
  {
    id: 'symmi',
    shape: '8 to 15 letters, syllables',
    heldOut: true,
    make: (rng) => syllables(rng, between(rng, 8, 15), 0.15),
  },
  {
    id: 'pushdo',
    shape: '9 to 12 letters, made to be pronounced',
    heldOut: true,
    make: (rng) => syllables(rng, between(rng, 9, 12), 0.25),
  },
  {
    id: 'suppobox',
    shape:
      'two words of a list (Geffner: End-to-End Analysis of a Domain Generating Algorithm Malware Family, Black Hat 2013)',
    heldOut: true,
    make: (rng) => rng.pick(words) + rng.pick(words),
  },
  {
    id: 'matsnu',
    shape: 'verbs and nouns of a list, up to 24 letters, some with dashes',
    heldOut: true,
    make: (rng) => [rng.pick(words), rng.pick(words), rng.pick(cities)].join(rng.chance(0.5) ? '-' : '').slice(0, 24),
  },
];

const banjoriTails = ['andersensinai', 'rasildeafeninguvuc', 'satformalisticirekb', 'nvestmentsolutionsmor'];

function alternating(rng: Random, length: number): string {
  let name = '';
  for (let i = 0; i < length; i++) name += rng.pick([...(i % 2 === 0 ? consonants : vowels)]);
  return name;
}

/** Returns pairs of a consonant and a vowel, some followed by a consonant. */
function syllables(rng: Random, length: number, closed: number): string {
  let name = '';
  while (name.length < length) {
    name += rng.pick([...consonants]) + rng.pick([...'aeiou']);
    if (rng.chance(closed)) name += rng.pick([...consonants]);
  }
  return name.slice(0, length);
}
