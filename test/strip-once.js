/**
 * Preloaded into the processes that tests start: a source file is stripped of its types once in a run of the tests,
 * not in each thread of each process. What runs is what Node would run: its own stripping, of the same file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';

const folder = process.env.STRIPPED_SOURCES;
const root = new URL('..', import.meta.url).href;
/** Ends what is written whole: others may read before it is. Without a rename, as tests count those of a process. */
const end = '\n//';

if (folder !== undefined) {
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith(root) || !url.endsWith('.ts')) return nextLoad(url, context);
      return { format: 'module', source: stripped(new URL(url)), shortCircuit: true };
    },
  });
}

function stripped(url) {
  const kept = `${folder}/${url.href.slice(root.length).replaceAll('/', '!')}`;
  try {
    const source = readFileSync(kept, 'utf8');
    if (source.endsWith(end)) return source;
  } catch {
    // Nobody has needed it yet.
  }
  const source = stripTypeScriptTypes(readFileSync(url, 'utf8')) + end;
  try {
    writeFileSync(kept, source, { flag: 'wx' });
  } catch {
    // Another is writing it.
  }
  return source;
}
