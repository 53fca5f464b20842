import { appendFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/**
 * Number of times that a failed test is repeated. CI repeats it once, because deadlines can expire on a busy machine.
 * Elsewhere, each failure is reported.
 */
export const retry = process.env.CI === undefined ? 0 : 1;

/**
 * Lists tests that failed and then passed when repeated: these tests depend on timing, or find a race. Appends errors
 * outside of tests to the file named by ERRORS_FILE, one JSON text per line: unhandled errors, and errors in imports
 * and hooks.
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
