import { defineConfig } from 'vite';
import { markdownPages } from './markdown.ts';

/** Everything that the first page loads is named by its content and lies under /console/. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    assetsDir: 'console',
    // The policy of the page forbids data: scripts and inline styles; a file is cached for good anyway.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [markdownPages()],
  logLevel: 'warn',
});
