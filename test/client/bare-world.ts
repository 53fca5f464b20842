/**
 * Loads the verifier into a context with ECMAScript and a few web globals, but without Node's globals
 * (`process`, `Buffer`, `require`, `crypto`). Reads cases from standard input, `[{name, text}]`, and writes their
 * results. Runs with --experimental-vm-modules.
 */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createContext, SourceTextModule } from 'node:vm';

const context = createContext({ TextEncoder, TextDecoder, atob, btoa });
const modules = new Map<string, SourceTextModule>();

function load(url: string): SourceTextModule {
  const known = modules.get(url);
  if (known !== undefined) return known;
  const text = readFileSync(fileURLToPath(url), 'utf8');
  const source = url.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  const module = new SourceTextModule(source, { identifier: url, context });
  modules.set(url, module);
  return module;
}

function resolve(specifier: string, from: string): string {
  if (specifier.startsWith('node:')) throw new Error(`${from} imports ${specifier}`);
  return specifier.startsWith('.') ? new URL(specifier, from).href : import.meta.resolve(specifier);
}

const use = `
  import * as verifier from ${JSON.stringify(new URL('../../src/client/verifier.ts', import.meta.url).href)};
  const { AuditFault } = verifier;
  const told = (result) => (result instanceof AuditFault ? result.code : 'ok');
  const read = {
    bundle(text) {
      const bundle = verifier.parseBundle(text);
      return told(bundle instanceof AuditFault ? bundle : verifier.verifyBundle(bundle));
    },
    head(text) {
      const { head, keys } = JSON.parse(text);
      const parsed = verifier.parseTreeHead(head);
      return told(parsed instanceof AuditFault ? parsed : verifier.verifyHead(parsed, verifier.parseKeySet(keys)));
    },
    checkpoint(text) {
      const { note, keys } = JSON.parse(text);
      return told(verifier.verifyCheckpoint(note, verifier.parseKeySet(keys)));
    },
    evidence(text) {
      const evidence = verifier.parseEvidence(text);
      return evidence instanceof AuditFault ? evidence.code : String(verifier.judge(evidence).convicts);
    },
    async archive(text) {
      async function* lines() {
        yield* text.trimEnd().split('\\n');
      }
      return told(await verifier.verifyArchive(lines()));
    },
  };
  export const seen = [typeof process, typeof Buffer, typeof require, typeof crypto, typeof fetch];
  export const judgeAll = async (json) =>
    JSON.stringify(await Promise.all(JSON.parse(json).map(({ kind, text }) => read[kind](text))));
`;

const entry = new SourceTextModule(use, { identifier: import.meta.url, context });
await entry.link((specifier, from) => load(resolve(specifier, from.identifier)));
await entry.evaluate();
const { seen, judgeAll } = entry.namespace as {
  seen: readonly string[];
  judgeAll(json: string): Promise<string>;
};
if (seen.some((type) => type !== 'undefined')) throw new Error(`the world is not bare: ${seen.join()}`);
process.stdout.write(await judgeAll(readFileSync(0, 'utf8')));
