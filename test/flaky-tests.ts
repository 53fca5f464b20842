import type { Reporter, TestCase } from 'vitest/node';

/**
 * Number of times that CI repeats a failed test: on a busy machine, deadlines expire that otherwise never do. Elsewhere,
 * each failure is reported.
 */
export const retry = process.env.CI === undefined ? 0 : 1;

/** Names the tests that failed, and passed when they were repeated: these tests depend on timing, or find a race. */
export default class FlakyTests implements Reporter {
  readonly #names: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    for (const name of this.#names) console.log(`passed only when repeated: ${name}`);
  }
}
