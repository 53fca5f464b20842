import { defineConfig } from 'vitest/config';
import { env } from '../compiled-sources.ts';
import { retry } from '../flaky-tests.ts';

/** Runs the console in a real browser, served by a real service: `npm run test:console`. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    include: ['test/console/browser/**/*.test.ts'],
    globalSetup: ['test/compiled-sources.ts', 'test/console/browser/built.ts'],
    env: { ...env, CANDOR_THREADS_INGEST: '1' },
    pool: 'forks',
    // Each test file starts a service and a browser. One waits for the other half of the time.
    maxWorkers: 3,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    retry,
  },
});
