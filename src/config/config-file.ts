import type { BigIntStats } from 'node:fs';
import { type Document, LineCounter, parseDocument, visit } from 'yaml';
import { limits } from '../limits.ts';
import { readFile, UnreadableFile } from '../read-file.ts';
import { repeatedKey } from '../unique-keys.ts';
import { ConfigError, show } from './config-error.ts';
import type { Given, GivenSettings } from './given.ts';
import { isMapping } from './mapping.ts';
import { isSettingName, type SettingName, settingNames } from './settings.ts';

/** Where settings are kept. */
export interface ConfigFile {
  readonly path: string;
  /** By CANDOR_CONFIG: then it must exist. Else it is the one in the data folder. */
  readonly named: boolean;
}

/** What a file of settings holds. */
export interface ConfigText {
  /** Empty where there is no file. */
  readonly text: string;
  /** Tells whether another file has taken its place, or other content; undefined where there is none. */
  readonly identity: string | undefined;
  /** Permission bits; none where there is no file. */
  readonly mode: number;
  readonly document: Document;
  readonly given: GivenSettings;
  /** The keys that lead to each setting in the document. */
  readonly paths: ReadonlyMap<SettingName, readonly string[]>;
}

/**
 * Reads and parses the file, without a look at the values.
 *
 * @throws ConfigError for a file that cannot be read, is too large, is neither YAML nor JSON or holds what is no setting.
 */
export function readConfigFile(file: ConfigFile): ConfigText {
  const { bytes, identity, mode } = readBytes(file);
  return { ...parseConfig(file, decode(file, bytes)), identity, mode };
}

/** @throws ConfigError */
export function parseConfig(
  file: ConfigFile,
  text: string,
): Pick<ConfigText, 'text' | 'document' | 'given' | 'paths'> {
  const { document, content } = parseYaml(file, text);
  const given = new Map<SettingName, Given>();
  const paths = new Map<SettingName, readonly string[]>();
  if (content === null || content === undefined) return { text, document, given, paths };
  if (!isMapping(content)) throw unusable(file, `${show(content)} in it`, 'a mapping of settings');
  for (const { name, raw, path } of flatten(content)) {
    // A group with nothing in it, all of it commented out, perhaps.
    if (raw === null && isGroup(name)) continue;
    // What it holds is not shown: it may be a secret whose name was misspelt.
    if (!isSettingName(name))
      throw new ConfigError(name, `came from ${file.path}, wanted no setting of this name`);
    if (name === 'data_dir' && !file.named)
      throw new ConfigError(
        name,
        `came from ${file.path}, wanted it elsewhere: this file lies in the folder`,
      );
    if (paths.has(name)) throw new ConfigError(name, `came twice from ${file.path}, wanted it once`);
    paths.set(name, path);
    if (raw !== null) given.set(name, { raw, source: 'file', from: file.path });
  }
  return { text, document, given, paths };
}

/** `{network: {home: […]}}` and `{"network.home": […]}` mean the same. Descends only where settings are. */
export function* flatten(
  mapping: Readonly<Record<string, unknown>>,
  above: readonly string[] = [],
): Generator<{ readonly name: string; readonly raw: unknown; readonly path: readonly string[] }> {
  for (const [key, raw] of Object.entries(mapping)) {
    const path = [...above, key];
    const name = path.join('.');
    if (isMapping(raw) && isGroup(name)) yield* flatten(raw, path);
    else yield { name, raw, path };
  }
}

/** Whether settings lie under this name: `alerts`. */
export function isGroup(name: string): boolean {
  return groups.has(name);
}

const groups = new Set(
  settingNames.flatMap((name) => [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index))),
);

function readBytes(file: ConfigFile): Pick<ConfigText, 'identity' | 'mode'> & { bytes: Uint8Array } {
  try {
    const { bytes, stat } = readFile(file.path, limits.maxConfigFileBytes);
    return { bytes, identity: identityOf(stat), mode: Number(stat.mode & 0o777n) };
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    if (!file.named && error.code === 'ENOENT')
      return { bytes: new Uint8Array(), identity: undefined, mode: 0 };
    switch (error.problem) {
      case 'no_file':
        throw unusable(file, 'something else', 'a regular file');
      case 'too_large':
        throw unusable(file, 'a larger file', `at most ${limits.maxConfigFileBytes} bytes`);
      case 'unreadable':
        throw unusable(
          file,
          'one that cannot be read',
          `a readable YAML or JSON file: ${error.code ?? 'unreadable'}`,
        );
    }
  }
}

/** Another one means another file, or that it was written to. */
export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function decode(file: ConfigFile, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unusable(file, 'other bytes', 'UTF-8');
  }
}

/**
 * YAML 1.2, of which JSON is a part. No aliases: a few lines of them stand for gigabytes, and settings need none. Of
 * what is wrong the message tells kind and place, not the text, which may be a secret.
 */
function parseYaml(file: ConfigFile, text: string): { document: Document; content: unknown } {
  const lines = new LineCounter();
  let document: Document;
  let content: unknown;
  try {
    document = parseDocument(text, {
      version: '1.2',
      uniqueKeys: false,
      stringKeys: true,
      merge: false,
      prettyErrors: false,
      lineCounter: lines,
      logLevel: 'error',
    });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw broken(problem.code, problem.pos[0]);
    const repeated = repeatedKey(document);
    if (repeated !== undefined) throw broken('duplicate_key', repeated);
    if ((document.directives?.yaml.version ?? '1.2') !== '1.2') throw broken('another version of yaml', 0);
    visit(document, {
      Alias(_, { range }) {
        throw broken('alias', range?.[0] ?? 0);
      },
    });
    content = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw unusable(file, 'one that cannot be parsed', 'YAML or JSON');
  }
  return { document, content };

  function broken(code: string, at: number): ConfigError {
    const { line, col } = lines.linePos(at);
    const what = code.toLowerCase().replaceAll('_', ' ');
    return unusable(file, `${what} at line ${line}, column ${col}`, 'plain YAML or JSON');
  }
}

function unusable({ path, named }: ConfigFile, came: string, wanted: string): ConfigError {
  const from = show(path);
  return named
    ? new ConfigError('CANDOR_CONFIG', `came ${from} and ${came}, wanted ${wanted}`)
    : new ConfigError('settings file', `came ${came} from ${from}, wanted ${wanted}`);
}
