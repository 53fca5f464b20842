/**
 * For a sign, others that are drawn the same, or nearly: after the skeletons of Unicode Technical Standard #39, as far as
 * letters of the scripts that names may have, of phonetics and small capitals pass for Latin ones. All are lower case; a
 * letter whose capital is a Latin one's double counts as that (Β is B, and so β is b).
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
 * The form in which names are the same that nobody can tell apart: letters of compatibility (ａｄｍｉｎ, 𝐚𝐝𝐦𝐢𝐧; Unicode
 * normalization form KC), case, the width of space, the length of dashes, and letters that look like others. Twice,
 * since some have a double before they are normalized, and others after.
 */
export function alikeForm(name: string): string {
  return folded(folded(name).normalize('NFKC'));
}

function folded(name: string): string {
  const signs = Array.from(name.toLowerCase(), (sign) => standsFor.get(sign) ?? sign).join('');
  // A dot above i or j is the one that it has already.
  return signs
    .replaceAll(/(?<=[ij])\u0307/gu, '')
    .replaceAll(/\p{Dash}/gu, '-')
    .replaceAll(/\s+/gu, ' ');
}
