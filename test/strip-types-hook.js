/**
 * Preloaded into the processes that tests start: each source file is stripped of its types once per run of
 * the tests, not in each thread of each process. The resulting code is the same as Node's own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';

const folder = process.env.STRIPPED_SOURCES;
const root = new URL('..', import.meta.url).href;
/**
 * Marks a completely written file, because other processes may read a partial one. The file is not renamed
 * into place, because tests count the renames of a process.
 */
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
    // Not stripped yet.
  }
  const source = stripTypeScriptTypes(readFileSync(url, 'utf8')) + end;
  try {
    writeFileSync(kept, source, { flag: 'wx' });
  } catch {
    // Another process is writing it.
  }
  return source;
}
