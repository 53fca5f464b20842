/** One record of an answer section. */
export interface Answer {
  readonly type: string | undefined;
  /** Seconds. */
  readonly ttl: number | undefined;
  readonly data: string;
}

/** As the column keeps them: JSON text of `[{type, ttl, data}, …]`; undefined where there are none. */
export function writeAnswers(answers: readonly Answer[]): string | undefined {
  return answers.length === 0 ? undefined : JSON.stringify(answers);
}
