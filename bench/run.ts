/**
 * `npm run bench [name …]`: runs the benchmarks and writes bench/README.md. Each benchmark is a file with one question.
 * Compare figures within one run, because machines differ and timings vary.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { benchmarkNames, benchmarks, runWhereNamed } from './benchmarks.ts';
import { machine, versions } from './machine.ts';
import { type Asked, aboutIn, page, section, sectionsOf } from './page.ts';

const path = new URL('./README.md', import.meta.url).pathname;
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !benchmarkNames.some((one) => one === name));
if (unknown.length > 0)
  throw new Error(`unknown benchmark: ${unknown.join(', ')}; available: ${benchmarkNames.join(', ')}`);
const names = benchmarkNames.filter((name) =>
  wanted.length === 0 ? runWhereNamed[name] === undefined : wanted.includes(name),
);

const asked = benchmarkNames.map((name): Asked => {
  const source = readFileSync(new URL(`./${name}.ts`, import.meta.url), 'utf8');
  return { name, about: aboutIn(source), onlyNamed: runWhereNamed[name] };
});
const ground = { date: new Date().toISOString().slice(0, 10), machine: machine(), versions: versions() };
// Sections of benchmarks that are not run are kept.
const sections = existsSync(path) ? sectionsOf(readFileSync(path, 'utf8'), benchmarkNames) : new Map();

for (const [at, name] of names.entries()) {
  console.log(`${name} (${at + 1} of ${names.length}) …`);
  const began = performance.now();
  const rows = await (await benchmarks[name]()).run();
  console.table(rows);
  console.log(`${name}: ${Math.round((performance.now() - began) / 1000)} s`);
  sections.set(name, section(asked[benchmarkNames.indexOf(name)]!, rows, ground));
  writeFileSync(path, page(asked, sections, ground));
}
