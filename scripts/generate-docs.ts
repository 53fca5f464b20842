/** `npm run docs`: writes the pages of src/docs that are generated from tables in the code. */
import { writeFileSync } from 'node:fs';
import { generatedPages } from './docs/pages.ts';

for (const [name, page] of Object.entries(generatedPages))
  writeFileSync(new URL(`../src/docs/${name}`, import.meta.url), page());
