import { defineConfig } from 'vitest/config';
import { env } from '../compiled-sources.ts';

/** The console in a real browser, served by a real service: `npm run test:console`. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    include: ['test/console/browser/**/*.test.ts'],
    globalSetup: ['test/compiled-sources.ts', 'test/console/browser/built.ts'],
    env: { ...env, CANDOR_THREADS_INGEST: '1' },
    pool: 'forks',
    // A service and a browser each, which wait for each other half of the time.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
