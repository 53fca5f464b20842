/**
 * Features of a label, as indices into the weights of a model:
 *
 *     trigrams of 29 symbols   24,389   with the ends of the label, digits as one symbol
 *     bigrams                     841
 *     shape                       112   seven measures in 16 steps each, one index of each
 *
 * The table is not hashed, so an index shows the letters of its weight.
 */
const symbols = 29;
const digit = 26;
const dash = 27;
const edge = 28;
const bigramsAt = symbols ** 3;
const shapeAt = bigramsAt + symbols ** 2;
const steps = 16;
const measures = 7;

export const featureCount = shapeAt + measures * steps;
/** Maximum characters of a label that are used: further characters add no information. */
const maxLength = 32;
/** Maximum features of a label. */
export const maxFeatures = 2 * (maxLength + 1) + measures;

const symbolOf = new Uint8Array(128).fill(dash);
for (let i = 0; i < 26; i++) symbolOf[97 + i] = i;
for (let i = 0; i < 10; i++) symbolOf[48 + i] = digit;
const isVowel = new Uint8Array(symbols);
for (const vowel of 'aeiouy') isVowel[vowel.charCodeAt(0) - 97] = 1;

/**
 * Writes the features of a lower-case label and returns their number: first the `2 (length + 1) - 1` features of
 * letters, then the seven features of shape. Characters after the 32nd are ignored. Characters other than letters and
 * digits count as a dash.
 */
export function featuresOf(label: string, into: Uint16Array): number {
  const length = Math.min(label.length, maxLength);
  let count = 0;
  let before = edge;
  let last = edge;
  let seen = 0;
  let digits = 0;
  let hexLetters = 0;
  let vowels = 0;
  let changes = 0;
  let run = 0;
  let longestRun = 0;
  for (let i = 0; i <= length; i++) {
    const code = i < length ? label.charCodeAt(i) : -1;
    const symbol = code < 0 ? edge : code < 128 ? symbolOf[code]! : dash;
    into[count++] = bigramsAt + last * symbols + symbol;
    if (i > 0) into[count++] = (before * symbols + last) * symbols + symbol;
    if (symbol !== edge) {
      if (symbol < digit) seen |= 1 << symbol;
      if (symbol < 6) hexLetters++;
      if (symbol === digit) digits++;
      if (isVowel[symbol] === 1) vowels++;
      if (last !== edge && (last === digit) !== (symbol === digit)) changes++;
      run = symbol < digit && isVowel[symbol] === 0 ? run + 1 : 0;
      if (run > longestRun) longestRun = run;
    }
    before = last;
    last = symbol;
  }
  const letters = Math.max(1, length - digits);
  const isHex = hexLetters + digits === length;
  const shape = shapeAt;
  into[count++] = shape + step(length / 2);
  into[count++] = shape + steps + step((15 * digits) / length);
  into[count++] = shape + 2 * steps + step((20 * vowels) / letters);
  into[count++] = shape + 3 * steps + step(longestRun);
  into[count++] = shape + 4 * steps + step(changes);
  into[count++] = shape + 5 * steps + step((15 * bits(seen)) / letters);
  into[count++] = shape + 6 * steps + (isHex ? step(1 + length / 3) : 0);
  return count;
}

export const shapeFeatures = measures;

function step(value: number): number {
  return value >= steps - 1 ? steps - 1 : Math.floor(value);
}

function bits(set: number): number {
  let count = 0;
  for (let left = set; left !== 0; left &= left - 1) count++;
  return count;
}
