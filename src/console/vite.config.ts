import { defineConfig } from 'vite';
import { markdownPages } from './markdown.ts';

/** All assets have content hashes in their names and are served below /console/. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    assetsDir: 'console',
    // The page's CSP forbids data: scripts and inline styles. Inlining would save nothing, because files are cached
    // permanently.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [markdownPages()],
  logLevel: 'warn',
});
