import { appendFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/**
 * Number of times that CI repeats a failed test: on a busy machine, deadlines expire that otherwise never do. Elsewhere,
 * each failure is reported.
 */
export const retry = process.env.CI === undefined ? 0 : 1;

/**
 * Names the tests that failed, and passed when they were repeated: these tests depend on timing, or find a race. Appends
 * errors that are not of a test to the file in ERRORS_FILE, as a JSON text per line: errors that nothing handled, and
 * errors of imports and hooks.
 */
export default class FlakyTests implements Reporter {
  readonly #names: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    for (const name of this.#names) console.log(`passed only when repeated: ${name}`);
    const file = process.env.ERRORS_FILE;
    if (file === undefined) return;
    const note = (what: string, { message, stack }: SerializedError) =>
      appendFileSync(file, `${JSON.stringify(`${what}: ${stack ?? message}`)}\n`);
    for (const error of unhandled) note(`unhandled error in ${error.VITEST_TEST_PATH ?? 'vitest'}`, error);
    for (const module of modules) {
      const suites = [module, ...module.children.allSuites()];
      for (const error of suites.flatMap((suite) => suite.errors())) note(module.relativeModuleId, error);
    }
  }
}
