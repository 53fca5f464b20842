/** A phrase that makes a sentence hard to read, and the advice that replaces it. */
export interface Phrase {
  readonly pattern: RegExp;
  readonly advice: string;
}

/** The word at the start of a sentence. Questions may start with any word. */
const sentenceStart: Phrase = {
  pattern: /^["'(*_]*(What|Of|Who|Whoever|Whose|Nobody|Somebody)\b(?!-)/,
  advice: 'start with the noun that the sentence is about',
};

/** Phrases that are wrong anywhere in a sentence. */
const phrases: readonly Phrase[] = [
  { pattern: /\banew\b/i, advice: 'say "again" or "from the start"' },
  { pattern: /\b(is|are|was|were) none\b/i, advice: 'say "there is no …" or "is not a valid …"' },
  {
    pattern: /(?<!\bthere )\b(is|are|was|were) no (?!longer|more|less|fewer|one|later|earlier)\w+/i,
    advice: 'say "is not a …" or "there is no …"',
  },
  { pattern: /\b(told|tells|heard)\b/i, advice: 'say "report", "notify", "record" or "receive"' },
  { pattern: / who (is|are|may|can|has|have|asks|comes)\b/i, advice: 'name the actor: "callers with …"' },
  {
    pattern: /\b(nobody|somebody|whoever|strangers?)\b/i,
    advice: 'name the actor: user, caller, operator, sensor, attacker',
  },
  { pattern: /\bas may be\b/i, advice: 'state the limit: "at most …"' },
  { pattern: /\bbut for\b/i, advice: 'say "except"' },
  { pattern: /\b(of|from) which on\b/i, advice: 'say "from … onwards"' },
  { pattern: /\bheld against\b/i, advice: 'say "compared with" or "counted against"' },
  { pattern: /\b(dear|dearer|grave|graver|gravest)\b/i, advice: 'say "expensive", "severe" or the severity' },
  { pattern: /\bin vain\b/i, advice: 'say "failed" or "without effect"' },
  { pattern: /\bmeanwhile\b/i, advice: 'say "while …" and name the activity' },
  { pattern: /\bas it is now\b/i, advice: 'say "currently" or leave it out' },
];

/** Returns the phrases in a paragraph, each with its sentence. */
export function findPhrases(paragraph: string): { readonly sentence: string; readonly advice: string }[] {
  return sentencesOf(paragraph).flatMap((sentence) => {
    const isQuestion = sentence.endsWith('?');
    const wrong = phrases.filter(({ pattern }) => pattern.test(sentence));
    if (!isQuestion && sentenceStart.pattern.test(sentence)) wrong.unshift(sentenceStart);
    return wrong.map(({ advice }) => ({ sentence, advice }));
  });
}

/** Returns the sentences of a paragraph. Code between backquotes is not prose and becomes `code`. */
export function sentencesOf(paragraph: string): string[] {
  const prose = paragraph.replace(/`+[^`]*`+/g, 'code').replace(/\s+/g, ' ');
  return prose
    .split(/(?<=[.!?:;])["')*_]*\s+(?=["'(*_]*[A-Z])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
