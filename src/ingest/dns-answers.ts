/** One record of an answer section. */
export interface Answer {
  readonly type: string | undefined;
  /** Time to live in seconds. */
  readonly ttl: number | undefined;
  readonly data: string;
}

/**
 * Returns the answers as the JSON text of the column, `[{type, ttl, data}, …]`; undefined for an empty list.
 */
export function writeAnswers(answers: readonly Answer[]): string | undefined {
  return answers.length === 0 ? undefined : JSON.stringify(answers);
}
