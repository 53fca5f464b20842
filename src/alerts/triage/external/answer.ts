import { isObject } from '../../../contract/json-object.ts';
import { type AiVerdict, mostUndecided } from '../local/verdict.ts';

/** Verdicts that the endpoint may return. The other verdicts are reserved for analysts. */
export const acceptedVerdicts = [
  'true_positive',
  'suspicious',
  'benign',
  'false_positive',
  'insufficient_data',
] as const satisfies readonly AiVerdict['verdict'][];

const maxReasons = 6;
const maxReasonLength = 500;

export type Answer = Pick<AiVerdict, 'verdict' | 'confidence' | 'reasons'>;

/**
 * Parses the verdict in the body of a chat completion: `choices[0].message.content` must be a JSON object with
 * `verdict`, `confidence` and `reasons`. Other members are ignored, because models add members. For
 * insufficient data, the confidence is limited to the maximum of the local model. Returns undefined for any
 * other content.
 */
export function answerIn(body: string): Answer | undefined {
  const completion = parsed(body);
  const choices = isObject(completion) ? completion.choices : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(choice) ? choice.message : undefined;
  const content = isObject(message) ? message.content : undefined;
  return typeof content === 'string' ? answerOf(parsed(content)) : undefined;
}

function answerOf(said: unknown): Answer | undefined {
  if (!isObject(said)) return undefined;
  const { verdict: word, confidence, reasons } = said;
  const verdict = acceptedVerdicts.find((one) => one === word);
  if (verdict === undefined) return undefined;
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) return undefined;
  if (!Array.isArray(reasons) || reasons.length === 0 || reasons.length > maxReasons) return undefined;
  if (!reasons.every(isSentence)) return undefined;
  const most = verdict === 'insufficient_data' ? mostUndecided : 1;
  return { verdict, confidence: Math.min(confidence, most), reasons: reasons.map(shown) };
}

const isSentence = (reason: unknown): reason is string =>
  typeof reason === 'string' && reason.trim() !== '' && reason.length <= maxReasonLength;

/**
 * Returns the reason as one safe line, without control characters, bidirectional marks or invisible
 * characters.
 */
const shown = (reason: string): string =>
  reason
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
