import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    // Real processes, worker threads and databases: separate processes keep native add-ons apart.
    pool: 'forks',
    // Two at a time is what the smallest supported machine can run without starving a server under test.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
