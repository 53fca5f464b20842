/**
 * Confusable characters by the character that they resemble, based on the skeletons of Unicode Technical Standard #39.
 * Covers letters of the scripts that names may use, phonetic letters and small capitals that look like Latin letters,
 * and punctuation. All letters are lower case. A letter whose capital looks like a Latin capital is included (Β looks
 * like B, so β maps to b).
 */
const doubles: Readonly<Record<string, string>> = {
  a: 'аαɑᴀ',
  b: 'вβьƅʙ',
  c: 'сϲᴄ',
  d: 'ԁᴅ',
  e: 'еεєɛҽᴇ℮',
  f: 'ƒꜰ',
  g: 'ɡցɢ',
  h: 'һнհʜ',
  i: 'ıіιɪɩ',
  j: 'јϳȷᴊ',
  k: 'кκᴋĸ',
  l: 'ӏǀʟ',
  m: 'мᴍ',
  n: 'ηոɴ',
  o: 'оοօჿᴏ',
  p: 'рρϱᴘ',
  q: 'ԛզ',
  r: 'гʀᴦ',
  s: 'ѕꜱ',
  t: 'тτᴛ',
  u: 'υսʋʊᴜ',
  v: 'νѵᴠ',
  w: 'ԝѡաɯᴡ',
  x: 'хχ×',
  y: 'уγүყɣʏ',
  z: 'ζᴢ',
  σ: 'ς',
  '-': '˗➖',
  "'": '‘’‛ʼʹ′',
  '/': '⁄∕',
  ':': '∶ː։',
};

const standsFor: ReadonlyMap<string, string> = new Map(
  Object.entries(doubles).flatMap(([sign, others]) => [...others].map((other) => [other, sign])),
);

/**
 * Returns a form that is equal for names that readers cannot distinguish. It ignores compatibility variants (ａｄｍｉｎ,
 * 𝐚𝐝𝐦𝐢𝐧; Unicode normalization form KC), case, the width of spaces, the length of dashes, and confusable letters.
 * Folding runs twice because some characters are confusable before normalization, and other characters only after
 * normalization.
 */
export function alikeForm(name: string): string {
  return folded(folded(name).normalize('NFKC'));
}

function folded(name: string): string {
  const signs = Array.from(name.toLowerCase(), (sign) => standsFor.get(sign) ?? sign).join('');
  // A combining dot above i or j is invisible.
  return signs
    .replaceAll(/(?<=[ij])\u0307/gu, '')
    .replaceAll(/\p{Dash}/gu, '-')
    .replaceAll(/\s+/gu, ' ');
}
